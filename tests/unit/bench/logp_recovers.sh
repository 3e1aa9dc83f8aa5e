#!/usr/bin/env bash
# logp_recovers.sh VIADUCT_RUN LOGP JUDGE: logp finds the o and the g that are put around the messages, and they change
# none of its other parameters. The judge is judged, too: told that other values were injected, it must deny it.
# The machine is shared: a few attempts, of which one must succeed.
set -euo pipefail
run=$1 logp=$2 judge=$3
o=2000 g=5000
[ "$(nproc)" -ge 2 ] || { echo "logp needs two cores"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Above other programs where that is allowed: each run takes a second.
ahead=()
if chrt -f 1 true 2>/dev/null; then ahead=(chrt -f 1); fi

measure() {
  local file=$1
  shift
  "${ahead[@]}" "$run" -n 2 --bind --timeout 30 "$logp" --parameters --rounds 3 --iters 5000 --json "$folder/$file" "$@" >/dev/null
}

# judged O G: 0 when the figures tell of these, 1 when not.
judged() {
  local status=0
  "$judge" "$folder"/{plain,o,g}.json "$1" "$2" || status=$?
  [ "$status" -le 1 ] || { echo "the judge had nothing to judge by"; exit 1; }
  return "$status"
}

for attempt in 1 2 3 4 5; do
  echo "attempt $attempt"
  measure plain.json
  measure o.json --inject-o "$o"
  measure g.json --inject-g "$g"
  judged "$o" "$g" || continue
  for wrong in "$((o * 11 / 10)) $g" "$((o * 9 / 10)) $g" "$o $((g * 11 / 10))" "$o $((g * 9 / 10))" "0 $g" "$o 0"; do
    # shellcheck disable=SC2086  # two values
    if judged $wrong; then echo "the judge believes in $wrong"; exit 1; fi
  done >"$folder/denials" || { cat "$folder/denials"; exit 1; }
  exit 0
done
echo "no attempt told of the o of $o ns and the g of $g ns that were injected"
exit 1
