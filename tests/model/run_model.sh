#!/usr/bin/env bash
# Verifies a Promela model exhaustively at the given parameters, or proves that a mutant of it is wrong.
#
# usage: run_model.sh MODEL holds NAME=VALUE...            there must be no error, and the search must be complete
#        run_model.sh MODEL fails PATTERN NAME=VALUE...    spin must find an error whose message matches
#
# Prints the states stored, the memory and the time. Needs spin and a C compiler (77 without).
set -euo pipefail
model=$(realpath "$1") expectation=$2
shift 2
pattern=
if [[ $expectation == fails ]]; then
  pattern=$1
  shift
fi

for tool in spin cc; do
  command -v $tool > /dev/null || { echo "SKIPPED: $tool is not installed (Debian packages: spin, gcc)"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  printf 'FAILED: %s: %s\n%s\n' "$(basename "$model") $*" "$reason" "$(cat report)" >&2
  exit 1
}

# The verifier's source names the model as it is named here.
cp "$model" .
spin -a "${@/#/-D}" "$(basename "$model")" > report
# The verifier's own compilation takes more time than most searches: a search by -O2's code is 0.4 s faster here, and -O2
# compiles 5 s longer. A mutant's error is found at once.
optimize=-Og
[[ $expectation == fails ]] && optimize=-O0
cc $optimize -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -c pan.c # by itself, so that ccache takes part where it is installed
cc -o pan pan.o
./pan -m100000 > report 2>&1 || true

reason='the verifier did not finish'
grep -q 'errors: [0-9]' report || fail "$@"
if [[ $expectation == fails ]]; then
  reason='no error was found, but this mutant has one'
  grep -q 'errors: 0' report && fail "$@"
  reason="the error is not the expected one ($pattern)"
  grep -qE "$pattern" report || fail "$@"
  grep -m1 '^pan:1' report
else
  reason='an error was found'
  grep -q 'errors: 0' report || fail "$@"
  reason='the search is not exhaustive'
  ! grep -qE 'not completed|too small|truncated|out of memory' report || fail "$@"
fi
grep -E 'states, stored|total actual memory|elapsed time' report
