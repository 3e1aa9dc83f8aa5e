#!/bin/sh
# usage: misuse.sh LAUNCHER PROGRAM RANKS CODE WORDS [VARIABLE=VALUE...] -- ARGUMENT...
# The program must end with CODE ("failure": any but 0 and 3, which it answers when nothing stops it) and with a
# sentence of a rank that holds WORDS (an extended regular expression); never by a signal of the processor, and not by
# the launcher's limit.
launcher=$1 program=$2 ranks=$3 code=$4 words=$5
shift 5
while [ "$1" != -- ]; do
  export "$1"
  shift
done
shift
output=$("$launcher" -n "$ranks" --timeout 30 "$program" "$@" 2>&1)
got=$?
printf '%s\n' "$output"
case $got in
  0 | 3) echo "the exit code is $got: nothing stopped the program"; exit 1 ;;
  124) echo "the job hung"; exit 1 ;;
  132 | 135 | 136 | 137 | 139) echo "the exit code is $got: a signal, not a sentence"; exit 1 ;;
esac
if [ "$code" != failure ] && [ "$got" -ne "$code" ]; then
  echo "the exit code is $got, wanted $code"
  exit 1
fi
if printf '%s\n' "$output" | grep -q 'nothing stopped'; then
  echo "a process came to its end"
  exit 1
fi
if ! printf '%s\n' "$output" | grep -E '^viaduct' | grep -Eq "$words"; then
  echo "no sentence holds: $words"
  exit 1
fi
