#!/usr/bin/env bash
# function_sizes.sh ROOT: no function of the product has more than 60 lines or 15 branches (tests/scripts/facts --help says
# how they are counted).
set -euo pipefail
command -v ctags >/dev/null || { echo "skipped: there is no ctags here"; exit 77; }
[ -e "$1/.git" ] || { echo "skipped: $1 is no checkout"; exit 77; }
exec "$1/tests/scripts/facts" --none 'functions over' "$1"
