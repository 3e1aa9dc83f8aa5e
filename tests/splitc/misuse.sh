#!/bin/sh
# usage: misuse.sh LAUNCHER PROGRAM RANKS CODE WORDS [VARIABLE=VALUE...] -- ARGUMENT...
#        misuse.sh LAUNCHER PROGRAM RANKS --each LIST [VARIABLE=VALUE...] --
# The program must end with CODE and with a sentence of a rank that holds WORDS (an extended regular expression); never
# by a signal of the processor, and not by the launcher's limit. With --each, that holds for everything that
# "PROGRAM --list" names, or with LIST=--usual some of it; LIST=all: everything.
launcher=$1 program=$2 ranks=$3 code=$4 words=$5
shift 5
while [ "$1" != -- ]; do
  export "$1"
  shift
done
shift

# check CODE WORDS ARGUMENT...: prints what was wrong, and fails.
check() {
  code=$1 words=$2
  shift 2
  output=$("$launcher" -n "$ranks" --timeout 30 "$program" "$@" </dev/null 2>&1)
  got=$?
  problem=
  if [ "$got" -ne "$code" ]; then
    problem="the exit code is $got, wanted $code"
  elif printf '%s\n' "$output" | grep -q 'nothing stopped'; then
    problem="a process came to its end"
  elif ! printf '%s\n' "$output" | grep -E '^viaduct: ' | grep -Eq -- "$words"; then
    problem="no sentence holds: $words"
  fi
  [ -n "$problem" ] || return 0
  printf '%s: %s\n%s\n' "$*" "$problem" "$output"
  return 1
}

if [ "$code" != --each ]; then
  check "$code" "$words" "$@"
  exit
fi
[ "$words" != all ] || words=
list=$("$launcher" -n "$ranks" --timeout 30 "$program" --list $words) || { echo "no list: $list"; exit 1; }
tab=$(printf '\t')
count=0 failed=0
while IFS=$tab read -r name code words; do
  count=$((count + 1))
  check "$code" "$words" "$name" || failed=$((failed + 1))
done <<END
$list
END
echo "$failed of $count failed"
[ "$count" -gt 10 ] && [ "$failed" -eq 0 ]
