#!/usr/bin/env bash
# figures_documented.sh JUDGE DOCUMENT SECTION COMMAND...: a short run of a benchmark (COMMAND, to which --json is added)
# works, and its figures are exactly those that the document's section defines. The judge is judged, too. No time is
# looked at.
set -euo pipefail
judge=$1 document=$2 section=$3
shift 3
[ "$(nproc)" -ge 2 ] || { echo "two ranks that measure need two cores"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
figures=$folder/figures.json

# At the priority of all tests: two programs that spin at a real-time priority keep each other from the cores for ever.
"$@" --json "$figures" >"$folder/table" || { cat "$folder/table"; echo "$*: failed"; exit 1; }
grep -q '^figure  *min  *median' "$folder/table" || { cat "$folder/table"; echo "no table was printed"; exit 1; }
grep -q '"suspect_yardsticks"' "$figures" || { echo "the JSON does not describe the machine"; exit 1; }
"$judge" "$document" "$section" "$figures" || { echo "$document, section $section, and the figures differ"; exit 1; }

# denied DOCUMENT FIGURES WHAT: the judge must find something wrong.
denied() {
  local status=0
  "$judge" "$1" "$section" "$2" >"$folder/denial" || status=$?
  [ "$status" -eq 1 ] || { echo "the judge does not notice $3"; exit 1; }
}
# The first figure behind "figures", not one of the rounds at another distance.
sed -E '/^ *"figures": /,$ { /_(ns|ms|gbs)": /{ s//_strange": /; :rest; n; b rest } }' "$figures" >"$folder/strange.json"
denied "$document" "$folder/strange.json" "a figure that is not defined"
awk -v title="## $section" '{ print } $0 == title { print "\n| name |\n|---|\n| `never_measured_ns` | nothing |" }' \
  "$document" >"$folder/more.md"
denied "$folder/more.md" "$figures" "a definition without its figure"
