#!/usr/bin/env bash
# manual_test.sh CMAKE BUILD LINKS: makes the HTML manual; no link in it is broken, a browser shows it, and its search finds
# a function's page.
set -euo pipefail
cmake=$1 build=$2 links=$3
for program in sphinx-build chromium; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program here"; exit 77; }
done
"$cmake" --build "$build" --target manual
manual=$build/manual/html
"$links" "$manual" "$manual"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# browse PAGE: what a reader's browser makes of it, when its scripts have run.
browse() {
  HOME=$work timeout 100 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --allow-file-access-from-files \
    --user-data-dir="$work/profile" --virtual-time-budget=20000 --dump-dom "file://$manual/$1" 2>"$work/errors"
}
browse index.html >"$work/index"
grep -q 'Active Messages' "$work/index" || { echo "the first page is empty"; tail -n 5 "$work/errors"; exit 1; }
# finds WORD: the pages that the search answers with.
finds() {
  browse "search.html?q=$1" | sed -n '/id="search-results"/,$p' | sed '/<div class="sphinxsidebar"/,$d' >"$work/found"
  grep -q 'Search Results\|Search finished\|did not match' "$work/found" || { echo "the search does not run" >&2; exit 1; }
  grep -oE 'href="[^":]*\.html' "$work/found" || true
}
finds all_store_sync >"$work/pages"
grep -q 'href="reference/splitc-store.html' "$work/pages" || { echo "the search does not find all_store_sync"; cat "$work/pages"; exit 1; }
finds thisisnowhereinthemanual >"$work/pages"
[ ! -s "$work/pages" ] || { echo "the search finds what is not there:"; cat "$work/pages"; exit 1; }
grep -q 'all_store_sync()' "$manual/reference/splitc-store.html"
