#!/bin/bash
# usage: message.sh VIADUCT_RUN ONE_MESSAGE: instructions of a message to another host in this project's own code, counted by
# callgrind. Which poll reaps completed sends depends on time, so up to three runs are made; one within the limits is enough.
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
run=$1 program=$2 count=200
limit=80 # s; in the emulated machine valgrind takes longer
[ ! -e /sys/module/rdma_rxe ] || limit=250
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# Rank 0 polls without a pause: without --fair-sched the thread of a software device in it hardly runs.
count_once() {
  rm -f "$place"/*
  # shellcheck disable=SC2016  # the rank's own shell expands it
  VIADUCT_AM_POLL_EVERY=1000000 timeout $((limit + 10)) "$run" -n 2 --timeout "$limit" bash -c '
    if [ "$VIADUCT_RANK" = 0 ]; then
      exec valgrind --tool=callgrind --fair-sched=yes --collect-atstart=no --dump-instr=yes --callgrind-out-file="$1/profile" "$2" "$3"
    else
      exec "$2" "$3"
    fi' -- "$place" "$program" "$count" >"$place/out" 2>"$place/said" || { cat "$place/out" "$place/said"; exit 1; }
  [ -z "${KEEP_PROFILES-}" ] || cp "$place"/profile* "$place/out" "$KEEP_PROFILES"
  python3 "$(dirname "$0")/message.py" "$count" "$place/out" "$place"/profile*
}
count_once || count_once || count_once
