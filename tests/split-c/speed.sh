#!/bin/sh
# speed.sh VIADUCT_RUN TRANSLATED BY_HAND KEYS: the program that splitcc makes may take 1.05 times as long as the one by
# hand. They run in turns; the shortest time of each counts.
run=$1 translated=$2 by_hand=$3 keys=$4
time_of() {
  "$run" -n 2 --bind --timeout 60 "$1" "$keys" 2>&1 >/dev/null | sed -n 's/^.*: \([0-9.]*\) ms$/\1/p'
}
for _ in 1 2 3 4 5 6 7; do
  echo "translated $(time_of "$translated")"
  echo "by_hand $(time_of "$by_hand")"
done | awk '
  { print }
  NF != 2 || $2 <= 0 { bad = 1 }
  !($1 in least) || $2 < least[$1] { least[$1] = $2 }
  END {
    if (bad || !("translated" in least)) { print "a run failed"; exit 1 }
    ratio = least["translated"] / least["by_hand"]
    printf "translated %.3f ms, by hand %.3f ms: %.3f\n", least["translated"], least["by_hand"], ratio
    exit ratio > 1.05
  }'
