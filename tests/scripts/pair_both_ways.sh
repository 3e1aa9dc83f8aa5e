#!/usr/bin/env bash
# pair_both_ways.sh VIADUCT_RUN PROGRAM 'ARGUMENTS OF 0' 'ARGUMENTS OF 1': two processes of a program that was written for
# another system, as a job of viaduct-run, and as two that are started by themselves and meet by a rendezvous. The word DIR
# in the arguments becomes a folder of each attempt, HOST the host's name.
set -euo pipefail
run=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/scripts/rendezvous.sh
. "$(dirname "$0")/rendezvous.sh"

# words_of TEXT DIR
words_of() {
  local text=${1//DIR/$2}
  echo "${text//HOST/$(uname -n)}"
}

export PROGRAM=$program
mkdir "$work/job"
FIRST=$(words_of "$3" "$work/job") SECOND=$(words_of "$4" "$work/job") "$run" -n 2 --timeout 40 bash -c '
  [ "$VIADUCT_RANK" = 0 ] && exec "$PROGRAM" $FIRST
  exec "$PROGRAM" $SECOND'

for attempt in 1 2 3; do
  mkdir "$work/$attempt"
  go_elsewhere
  # shellcheck disable=SC2046 # words
  start 0 env VIADUCT_SIZE=2 "$program" $(words_of "$3" "$work/$attempt")
  # shellcheck disable=SC2046
  start 1 "$program" $(words_of "$4" "$work/$attempt")
  status=0
  both_end || status=$?
  port_was_taken || break
done
exit "$status"
