#!/usr/bin/env bash
# check_heavy.sh ROOT: at most four sources under ROOT include the headers of CLI11 or nlohmann-json, which take longer to
# compile than most programs. runtime/program/ has what everybody else uses. Exit status 1 when there are more, 2 when
# there is none, for then nothing is checked.
set -euo pipefail
cd "$1"
most=4
found=$(grep -rlE --include='*.[ch]pp' --include='*.[ch]' --include='*.ipp' --exclude-dir=build --exclude-dir=.git \
  '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](CLI|nlohmann)/' . || true)
[ -n "$found" ] || { echo "nothing includes CLI11 or nlohmann-json: the check checks nothing" >&2; exit 2; }
number=$(wc -l <<<"$found")
if [ "$number" -gt "$most" ]; then
  echo "$number files include CLI11 or nlohmann-json, and at most $most may; use runtime/program/ instead:"
  echo "$found"
  exit 1
fi
echo "$number files include CLI11 or nlohmann-json"
