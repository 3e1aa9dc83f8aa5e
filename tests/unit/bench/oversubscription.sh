#!/usr/bin/env bash
# oversubscription.sh VIADUCT_RUN OVERSUBSCRIPTION: the benchmark works with several numbers of ranks and prints every
# figure that it promises. No time is looked at.
set -euo pipefail
run=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect RANKS FIGURE...: a short run has these figures, on the table and in the file.
expect() {
  local ranks=$1 table
  shift
  table=$("$run" -n "$ranks" --timeout 50 "$program" --rounds 1 --window-ms 5 --iters 1000 --json "$folder/figures.json")
  for figure in "$@"; do
    grep -q "^$figure " <<<"$table" || { echo "$ranks ranks: the table lacks $figure"; exit 1; }
    grep -q "\"$figure\"" "$folder/figures.json" || { echo "$ranks ranks: the JSON lacks $figure"; exit 1; }
    grep -q "\"${figure}_ratio\"" "$folder/figures.json" || { echo "$ranks ranks: the JSON lacks ${figure}_ratio"; exit 1; }
  done
}
expect 4 am_oversubscribed_4_rtt_ns
expect 7 am_oversubscribed_4_rtt_ns am_oversubscribed_6_rtt_ns poll_2_peers_ns
expect 16 am_oversubscribed_{4,8,16}_rtt_ns sched_yield_rtt_16_ns futex_rtt_16_ns poll_{2,8,64}_peers_ns

status=0
message=$("$run" -n 2 "$program" 2>&1) || status=$?
[ "$status" -eq 1 ] && grep -qF "viaduct-run -n 16" <<<"$message" ||
  { echo "2 ranks: exit code $status and no remedy: $message"; exit 1; }
# refused WORDS OPTION...: a bad command line ends at once, with 2 and a sentence that has these words.
refused() {
  local words=$1 message status=0
  shift
  message=$("$run" -n 4 --timeout 20 "$program" "$@" 2>&1) || status=$?
  [ "$status" -eq 2 ] && grep -qF -- "$words" <<<"$message" ||
    { echo "$*: exit code $status and not '$words': $message"; exit 1; }
}
refused --window-ms --window-ms 0
refused --iters --iters 0
refused --iters --iters -1
refused --iters --iters many
refused --rounds --rounds 0
refused --size --size 8 # its figures have their sizes in their names
refused "cannot write to $folder/none/figures.json" --json "$folder/none/figures.json"
refused "cannot write to $folder: a folder" --json "$folder"
