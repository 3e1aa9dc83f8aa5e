#!/usr/bin/env bash
# mapping.sh JUDGE MAPPING: a short run of mapping has all rows, shares that add up, and the counts that the protocol says.
# The judge is judged, too. No time is looked at.
set -euo pipefail
judge=$1 mapping=$2
[ "$(nproc)" -ge 2 ] || { echo "two ranks that measure need two cores"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
figures=$folder/figures.json

"$mapping" --rounds 1 --iters 10000 --json "$figures" >"$folder/table" 2>&1 || { cat "$folder/table"; echo "mapping failed"; exit 1; }
for row in send_done cq_recv push act; do
  grep -q "^  $row " "$folder/table" || { cat "$folder/table"; echo "no row $row is printed"; exit 1; }
done
python3 "$judge" "$figures" || { cat "$folder/table"; exit 1; }

# denied WHAT EXPRESSION: the judge must find something wrong in figures that EXPRESSION has changed.
denied() {
  local status=0
  python3 -c "
import json, sys
document = json.load(open(sys.argv[1]))
figures = document['figures']
$2
json.dump(document, open(sys.argv[2], 'w'))" "$figures" "$folder/changed.json"
  python3 "$judge" "$folder/changed.json" >"$folder/denial" || status=$?
  [ "$status" -eq 1 ] || { echo "the judge does not notice $1"; exit 1; }
}
denied "a row that is missing" "del figures['v1_get_push_percent']"
denied "shares that do not add up" "figures['am_act_percent']['median'] += 1"
denied "groups that do not add up" "figures['am_event_percent']['median'] += 1"
denied "a post too many" "figures['am_post_send_count']['median'] = 3"
denied "a poll that is not counted" "figures['get_cq_recv_count']['median'] = 2"
denied "a step that channels do not have" "figures['channel_am_cq_send_count']['median'] = 1"

# Bad input is refused.
refuses() { # refuses STATUS WORDS OPTION...
  local status=0
  "$mapping" "${@:3}" >"$folder/said" 2>&1 || status=$?
  if [ "$status" -ne "$1" ] || ! grep -qF -- "$2" "$folder/said"; then
    cat "$folder/said"
    echo "mapping ${*:3}: status $status, not $1 with '$2'"
    exit 1
  fi
}
refuses 2 --rounds --rounds many
refuses 2 --json --json /nowhere/figures.json
refuses 1 "only provider shm is instrumented" --provider verbs
