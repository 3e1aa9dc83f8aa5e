#!/usr/bin/env bash
# instructions.sh PROGRAM: what a call costs over a request and a reply written by hand, counted by callgrind. The handlers
# and what waits are counted, the library's polls are not: they are the same. Prints a table; fails when a call costs more
# than 12 instructions more than the pair with the shortest loop that waits for it, or more than the pair with
# Bundle::wait_until(). The program itself fails when a call allocates.
set -euo pipefail
program=$1
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=10000
timeout 100 valgrind --tool=callgrind --callgrind-out-file="$work/profile" "$program" $count >"$work/out" 2>&1 || {
  echo "the run ended with $?:"
  cat "$work/out"
  exit 1
}
callgrind_annotate --threshold=100 "$work/profile" >"$work/own"
callgrind_annotate --inclusive=yes --threshold=100 "$work/profile" >"$work/all"

# of TABLE WORDS...: instructions of the functions whose line has one of the words, without those that they call
of() {
  local table=$1
  shift
  awk -v words="$*" 'BEGIN { n = split(words, word, " ") }
    /=>/ { next }
    { for (i = 1; i <= n; ++i) if (index($0, word[i])) { gsub(",", "", $1); sum += $1; break } }
    END { print sum + 0 }' "$work/$table"
}
each() { awk -v a="$1" -v n="$2" 'BEGIN { printf "%.1f", a / n }'; }

# What is inlined where differs between compilers: each side is all that belongs to it. Two loops use the hand-written
# pair's handlers, one those of the call.
hand_loop=$(of own ":viaduct_pairs_by_hand ")
hand_handlers=$(of own "on_look_up" "on_found")
call=$(of own ":viaduct_look_ups_by_call " "run_call" "take_answer" "call_short")
hand=$(each $((2 * hand_loop + hand_handlers)) $((2 * count)))
call=$(each "$call" $count)
whole_hand=$(each "$(of all ":viaduct_look_ups_by_hand ")" $count)
whole_call=$(each "$(of all ":viaduct_look_ups_by_call ")" $count)
printf '%-44s %10s %10s\n' instructions 'by hand' 'as a call' \
  'request, reply and the shortest wait, no poll' "$hand" "$call" \
  'as programs wait, with the polls' "$whole_hand" "$whole_call"
awk -v hand="$hand" -v call="$call" 'BEGIN { exit !(hand > 50 && call > 50 && call - hand <= 12) }' ||
  { echo "FAILED: a call costs more than 12 instructions more"; exit 1; }
awk -v hand="$whole_hand" -v call="$whole_call" 'BEGIN { exit !(call > 50 && call <= hand) }' ||
  { echo "FAILED: a call costs more than the pair and wait_until"; exit 1; }
