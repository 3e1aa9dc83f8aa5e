#!/bin/bash
# usage: beside.sh FOLDER LIST: runs all commands of LIST at once, each on software devices of its own; one line each:
#
#     NAME|SECONDS|COMMAND...
#
# They wait for most of their time. Shows the output of each that fails.
folder=$1 list=$2
here=${BASH_SOURCE[0]%/*}
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT
names=() pids=()
while IFS='|' read -r name seconds command; do
  [ -n "$name" ] || continue
  (
    start=$SECONDS
    timeout -k 10 "$seconds" "$here/soft-verbs.sh" "$folder" bash -c "$command" >"$place/$name" 2>&1 </dev/null
    status=$?
    echo "$name: status $status after $((SECONDS - start)) s"
    exit $status
  ) &
  names+=("$name") pids+=($!)
done <"$list"
failed=0
for i in "${!pids[@]}"; do
  status=0
  wait "${pids[i]}" || status=$?
  case $status in 0 | 77) continue ;; esac
  failed=1
  echo "== ${names[i]} has failed with status $status:"
  cat "$place/${names[i]}"
done
exit $failed
