#!/usr/bin/env bash
# contracts_test.sh ROOT: at least 85 % of the public functions have a contract, as tests/scripts/facts counts them.
set -euo pipefail
facts=$1/tests/scripts/facts
least=85
command -v ctags >/dev/null || { echo "skipped: there is no ctags here"; exit 77; }
[ -e "$1/.git" ] || { echo "skipped: this is no checkout, so that nothing says which files belong to it"; exit 77; }

# share TABLE: the percentage in the row of the contracts.
share() { sed -n 's/^| public functions with a contract | [0-9]* of [0-9]*, \([0-9]*\) % |$/\1/p' <<<"$1"; }

table=$("$facts" "$1")
percent=$(share "$table")
[ -n "$percent" ] || { printf 'contracts_test: no share in the table:\n%s\n' "$table"; exit 1; }
[ "$percent" -ge "$least" ] || {
  echo "contracts_test: $percent % of the public functions have a contract, fewer than $least %. Without one are:"
  "$facts" --list 'public functions without a contract' "$1"
  exit 1
}
