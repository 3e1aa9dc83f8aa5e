#!/usr/bin/env bash
# function_sizes.sh ROOT: no function of the product has more than 60 lines or 15 branches, and no class in a header of the
# hot path more than 30 functions or 25 data members (tests/scripts/facts --help says how they are counted).
set -euo pipefail
command -v ctags >/dev/null || { echo "skipped: there is no ctags here"; exit 77; }
[ -e "$1/.git" ] || { echo "skipped: $1 is no checkout"; exit 77; }
exec "$1/tests/scripts/facts" --none 'functions over' --none 'large classes' "$1"
