#!/usr/bin/env bash
# sample_sort_agrees.sh SOURCE_FOLDER LAUNCH: the sorted numbers are those that sort(1) makes of the same file.
set -euo pipefail
numbers=$1/examples/splitc/data/numbers.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
grep -v '^#' "$numbers" | tr -s ' ' '\n' | sort -n >"$folder/expected"
# shellcheck disable=SC2086  # LAUNCH is several words
$2 "$numbers" --output "$folder/found"
diff "$folder/expected" "$folder/found"
