#!/usr/bin/env bash
# example_lost.sh VIADUCT_RUN KILLED PROGRAM [ARGUMENT...]: rank KILLED of two is killed while both work. The other one
# outlives that, by --keep-going, and ends with a sentence: it waits for nobody.
set -euo pipefail
run=$1 killed=$2
shift 2
code=0
# shellcheck disable=SC2016 # expanded by the rank's own shell
output=$("$run" -n 2 --keep-going --timeout 30 sh -c \
  'killed=$1; shift; test "$VIADUCT_RANK" = "$killed" && exec timeout -s KILL 1 "$@"; exec "$@"' sh "$killed" "$@" 2>&1) || code=$?
if [ "$code" = 0 ] || [ "$code" = 124 ] ||
  ! grep -Eq 'gives up, since another rank is lost|undeliverable request .*the peer is gone' <<<"$output"; then
  printf 'rank %s killed, status %s:\n%s\n' "$killed" "$code" "$output" >&2
  exit 1
fi
