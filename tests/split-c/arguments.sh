#!/bin/sh
# usage: arguments.sh LAUNCHER PROGRAM...
# A number that a program cannot use ends it with code 2 and one sentence.
launcher=$1 failed=0
shift
for program; do
  for number in 0 -1; do
    said=$("$launcher" -n 2 --quiet --timeout 20 "$program" "$number" 2>&1)
    code=$?
    if [ $code -ne 2 ] || [ "$(printf '%s\n' "$said" | grep -c ' must be ')" -ne 1 ]; then
      printf '%s %s: code %s, wanted 2 and one sentence:\n%s\n' "$program" "$number" "$code" "$said"
      failed=1
    fi
  done
done
exit $failed
