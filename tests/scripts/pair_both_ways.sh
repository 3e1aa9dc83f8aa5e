#!/usr/bin/env bash
# pair_both_ways.sh VIADUCT_RUN PROGRAM 'ARGUMENTS OF 0' 'ARGUMENTS OF 1': two processes of a program that was written for
# another system, as a job of viaduct-run, and as two that are started by themselves and meet by a rendezvous. The word DIR
# in the arguments becomes a folder of each attempt, HOST the host's name.
set -euo pipefail
run=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset VIADUCT_JOB_ID VIADUCT_PROVIDER

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

export VIADUCT_JOIN_TIMEOUT=20s
VIADUCT_JOB_SECRET=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export VIADUCT_JOB_SECRET
for attempt in 1 2 3; do # another program may have the port
  mkdir "$work/$attempt"
  export VIADUCT_RENDEZVOUS=tcp://127.0.0.1:$((20000 + RANDOM % 20000))
  # shellcheck disable=SC2046 # words
  VIADUCT_RANK=0 VIADUCT_SIZE=2 "$program" $(words_of "$3" "$work/$attempt") >"$work/0.log" 2>&1 &
  first=$!
  # shellcheck disable=SC2046
  VIADUCT_RANK=1 "$program" $(words_of "$4" "$work/$attempt") >"$work/1.log" 2>&1 &
  second=$!
  status=0
  wait $second || status=$?
  wait $first || status=$?
  cat "$work/0.log" "$work/1.log"
  if ! grep -q 'another program listens there' "$work/0.log"; then break; fi
done
exit $status
