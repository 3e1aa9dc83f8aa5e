#!/usr/bin/env bash
# A job whose ranks run two different programs: every rank must say the same, and name both programs, the ranks and a
# handler. The control, one program for all, must agree. A program of Active Messages beside one of Split-C must be told of.
#
# usage: am_registry_two_programs.sh VIADUCT_RUN PROGRAM_A PROGRAM_B SPLITC_PROGRAM
set -euo pipefail
run=$1 a=$2 b=$3 splitc=$4
ranks=4

fail() {
  printf 'FAILED: %s\n%s\n' "$1" "${output-}" >&2
  exit 1
}

# run_job B_RANKS: the ranks in the list run program B, the others A.
run_job() {
  # shellcheck disable=SC2016 # expanded by the rank's own shell
  output=$("$run" -n "$ranks" --timeout 100 sh -c '
    case " $3 " in *" $VIADUCT_RANK "*) exec "$2" ;; esac
    exec "$1"' sh "$a" "$b" "$1") || fail "the job of B at ranks '$1' ended with status $?"
}

expect_all() {
  local rank
  for ((rank = 0; rank < ranks; ++rank)); do
    grep -q "^rank $rank: .*$1" <<< "$output" || fail "rank $rank does not say '$1'"
  done
}

run_job ''
expect_all 'agreed$'

run_job '2'
expect_all 'typed handlers differ'
expect_all "rank 0 ($a) has on_same(int) (4 bytes of arguments)"
expect_all "rank 2 ($b) has on_same(int)"
expect_all 'start every rank from one build'
expect_all '[[]VIA-3010]'
[[ $(sed 's/^rank [0-9]*: //' <<< "$output" | sort -u | wc -l) == 1 ]] || fail 'the ranks say different things'
! grep -q 'are concerned' <<< "$output" || fail 'one rank differs, more are reported'

run_job '0 1'
expect_all "rank 0 ($b) .*rank 2 ($a) "
expect_all "(2 ranks of $ranks are concerned)"

for first in "$a" "$splitc"; do
  second=$splitc
  [ "$first" = "$a" ] || second=$a
  # shellcheck disable=SC2016
  output=$("$run" -n 2 --timeout 100 sh -c 'test $VIADUCT_RANK = 0 && exec "$1"; exec "$2"' sh "$first" "$second" 2>&1) &&
    fail 'Active Messages and Split-C make a job'
  grep -q 'has put nothing under .* all ranks must run the same program, .*[[]VIA-0402]' <<< "$output" ||
    fail 'the likely cause is not named'
done
echo 'two programs in one job are refused by every rank'
