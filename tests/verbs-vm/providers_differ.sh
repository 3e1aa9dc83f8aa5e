#!/bin/bash
# usage: providers_differ.sh DEVICE DEVICE VIADUCT_RUN VIA_CONFORMANCE ALL_PAIRS SPLITC_MODEL
# Ranks with different providers are told so, whatever opens them: a NIC, Active Messages or Split-C. Devices may differ.
a=$1 b=$2 run=$3 conformance=$4 all_pairs=$5 splitc=$6
failures=0

# job FIRST SECOND COMMAND...: the providers of rank 0 and rank 1; "-": unset.
job() {
  output=$(FIRST=$1 SECOND=$2 "$run" -n 2 --timeout 20 sh -c '
    test "$VIADUCT_RANK" = 0 && VIADUCT_PROVIDER=$FIRST || VIADUCT_PROVIDER=$SECOND
    if test "$VIADUCT_PROVIDER" = -; then unset VIADUCT_PROVIDER; else export VIADUCT_PROVIDER; fi
    exec "$@"' sh "${@:3}" 2>&1)
}
# refused SENTENCE FIRST SECOND COMMAND...
refused() {
  if job "${@:2}" || ! grep -F "$1: give all ranks the same VIADUCT_PROVIDER" <<<"$output" | grep -qF "[VIA-0104]"; then
    printf '%s: not told "%s":\n%s\n' "${*:2}" "$1" "$output"
    failures=$((failures + 1))
  fi
}
# works FIRST SECOND COMMAND...
works() {
  job "$@" || { printf '%s: must work:\n%s\n' "$*" "$output"; failures=$((failures + 1)); }
}

differ="rank 1 and rank 0 differ in VIADUCT_PROVIDER"
refused "$differ, verbs and unset" - verbs "$all_pairs" 20
refused "$differ, shm and verbs:$a" "verbs:$a" shm "$all_pairs" 20
refused "$differ, unset and verbs" verbs - "$splitc"
VIADUCT_AM_GENERATION=v3 refused "$differ, fault(verbs,L=1) and unset" - 'fault(verbs,L=1)' "$all_pairs" 20
refused "rank 1 opens provider verbs, and rank 0 provider shm" shm verbs "$conformance" send.sizes
refused "rank 1 opens provider shm, and rank 0 provider verbs" "fault(verbs:$a,L=1)" 'fault(shm,L=1)' "$conformance" send.sizes
works "verbs:$a" "verbs:$b" "$all_pairs" 20
VIADUCT_AM_GENERATION=v3 works - 'fault(shm,L=1)' "$all_pairs" 20
exit "$((failures != 0))"
