#!/bin/sh
# calls_lost.sh LAUNCHER PROGRAM: with the last rank killed, one that leaves, and one that is killed behind
# many replies, both other ranks survive.
launcher=$1 program=$2
for how in killed leaves replied; do
  output=$("$launcher" -n 3 --keep-going --timeout 25 "$program" $how 2>&1)
  survivors=$(printf '%s\n' "$output" | grep -c 'survived$')
  if [ "$survivors" -ne 2 ]; then
    printf '%s: %s ranks survived, not 2:\n%s\n' "$how" "$survivors" "$output"
    exit 1
  fi
done
