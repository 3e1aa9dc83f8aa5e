#!/usr/bin/env bash
# idle_poll.sh ALONE BOTH: instructions of a poll that finds nothing, of each model alone and with the other one in the
# program, counted by callgrind. Fails when a poll costs more than 10 instructions more because of the other model.
set -euo pipefail
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
polls=6400
for program in "$@"; do
  VIADUCT_SEGMENT_BASE=1024G timeout 100 valgrind --tool=callgrind --callgrind-out-file="$work/profile" "$program" >"$work/said" 2>&1 || {
    echo "the run ended with $?:"
    cat "$work/said"
    exit 1
  }
  callgrind_annotate --inclusive=yes --threshold=100 "$work/profile" >>"$work/all"
done
# of FUNCTION: instructions of a poll in it
of() {
  awk -v name=":viaduct_idle_$1" -v polls=$polls '
    /=>/ { next }
    index($0, name " ") || $0 ~ name "$" { gsub(",", "", $1); found = $1 }
    END { printf "%.1f", found / polls }' "$work/all"
}
failed=0
printf '%-16s %8s %8s\n' 'an idle poll of' alone both
for model in am split_c; do
  alone=$(of ${model}_alone) both=$(of ${model}_both)
  printf '%-16s %8s %8s\n' $model "$alone" "$both"
  awk -v alone="$alone" -v both="$both" 'BEGIN { exit !(alone >= 5 && both - alone <= 10) }' || failed=1
done
[ $failed = 0 ] || echo "FAILED: the other model makes an idle poll more than 10 instructions longer"
exit $failed
