#!/usr/bin/env bash
# ended.sh APPS: a signal ends a benchmark that starts jobs, and with it the job and the folder of its files.
set -euo pipefail
apps=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
# The processes of this test's benchmark and its job.
ours() { grep -lzx "TMPDIR=$place" /proc/[0-9]*/environ 2>/dev/null || true; }
TMPDIR=$place "$apps" --ranks 2 --rounds 100 --program heat >"$place.out" 2>&1 &
benchmark=$!
for ((i = 0; i < 200; ++i)); do
  [ "$(ours | wc -l)" -lt 3 ] || break
  sleep 0.05
done
[ "$(ours | wc -l)" -ge 3 ] || { cat "$place.out"; echo "the benchmark starts no job"; exit 1; }
[ -n "$(ls "$place")" ] || { echo "the benchmark has no folder of files"; exit 1; }
kill -TERM "$benchmark"
status=0
wait "$benchmark" || status=$?
[ "$status" -eq 143 ] || { cat "$place.out"; echo "status $status"; exit 1; }
rm -f "$place.out"
[ -z "$(ls "$place")" ] || { echo "left: $(ls "$place")"; exit 1; }
for ((i = 0; i < 100; ++i)); do # the launcher has ended; its ranks are the kernel's
  [ -n "$(ours)" ] || exit 0
  sleep 0.05
done
echo "these processes go on: $(ours)"
exit 1
