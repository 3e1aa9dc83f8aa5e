#!/usr/bin/env bash
# bad_value.sh VIADUCT_RUN PROGRAM SPLITC_PROGRAM: a generation that there is not ends the job with the variable, its value, what it may be,
# and the code; a provider that there is not, in the same way; `channel` is accepted. Ranks that differ end in the same way.
set -euo pipefail
run=$1 program=$2 splitc=$3

refused() {  # PATTERN VARIABLE=VALUE...
  local pattern=$1 output
  shift
  if output=$(env "$@" "$run" -n 2 --timeout 30 "$program" 20 2>&1); then
    echo "$* was accepted" >&2
    exit 1
  fi
  grep -qE "$pattern" <<<"$output" || { printf '%s: no match for %s in\n%s\n' "$*" "$pattern" "$output" >&2; exit 1; }
}
refused 'VIADUCT_AM_GENERATION=v4 is not accepted: give one of channel\|v1\|v1-strict\|v2\|v3 .*\[VIA-0103\]' VIADUCT_AM_GENERATION=v4
refused 'VIADUCT_AM_GENERATION=V1 is not accepted' VIADUCT_AM_GENERATION=V1
refused 'no provider "tcp".*\[VIA-2001\]' VIADUCT_AM_GENERATION=v1 VIADUCT_PROVIDER=tcp
env VIADUCT_AM_GENERATION=channel "$run" -n 2 --timeout 30 "$program" 20

# differ COMMAND...: rank 1 alone has v3.
differ() {
  local output
  if output=$("$run" -n 2 --timeout 20 sh -c 'test $VIADUCT_RANK = 0 || export VIADUCT_AM_GENERATION=v3; exec "$@"' sh "$@" 2>&1); then
    echo "$* ran with two generations" >&2
    exit 1
  fi
  grep -q 'rank 1 and rank 0 differ in VIADUCT_AM_GENERATION, v3 and channel .*\[VIA-0104\]' <<<"$output" ||
    { printf '%s: no such sentence in\n%s\n' "$*" "$output" >&2; exit 1; }
}
differ "$program" 20
differ "$splitc"
