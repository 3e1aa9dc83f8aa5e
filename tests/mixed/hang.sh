#!/bin/bash
# usage: hang.sh LAUNCHER PROGRAM: the hang reports of a job that stands still must name both processes' waits.
folder=$(mktemp -d) || exit 1
trap 'kill "$launcher" 2>/dev/null; wait; rm -rf "$folder"' EXIT
VIADUCT_HANG_REPORT=300ms "$1" -n 2 --timeout 50 "$2" 2>"$folder/said" &
launcher=$!
wanted=("rank 0 .*waiting for a message in store_sync" "rank 1 .*waiting for a message in wait_until")
for line in "${wanted[@]}"; do
  until grep -q "a wait has lasted .*$line" "$folder/said"; do
    kill -0 $launcher 2>/dev/null || { echo "no report says: $line"; cat "$folder/said"; exit 1; }
    sleep 0.05
  done
done
cat "$folder/said"
