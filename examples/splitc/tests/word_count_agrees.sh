#!/usr/bin/env bash
# word_count_agrees.sh SOURCE_FOLDER LAUNCH: the counts are those of uniq(1).
set -euo pipefail
export LC_ALL=C
text=$1/examples/splitc/data/split-c.txt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tr 'A-Z' 'a-z' <"$text" | tr -cs 'a-z0-9\200-\377' '\n' | grep . | sort | uniq -c | awk '{ print $1, $2 }' |
  sort >"$folder/expected"
# shellcheck disable=SC2086  # LAUNCH is several words
$2 "$text" --output "$folder/found"
sort "$folder/found" | diff "$folder/expected" -
