#!/bin/bash
# usage: launcher.sh VIADUCT_RUN INJECT_LIBRARY STRIDE: starts jobs of two ranks, each with one failing call in one of
# viaduct-run's own processes: every STRIDE-th allocation (and each of the first forty), every descriptor, mapping and
# thread. A job ends well, or with exit code 125 and one sentence of viaduct-run's; it leaves no process behind.
run=$1
library=$2
stride=$3
mark=launcher-$$-$RANDOM
tried=0
failed=0
wrong=0

complain() {
  echo "$1 $2: $3"
  sed 's/^/    /' <<<"$output" | head -4
  wrong=$((wrong + 1))
}

# try KIND NUMBER: one job.  Answers whether the call has failed.
try() {
  output=$(INJECT=$1:$2 INJECT_PROGRAM=viaduct-run SET_UP_MARK=$mark LD_PRELOAD=$library timeout 100 "$run" -n 2 true 2>&1)
  status=$?
  tried=$((tried + 1))
  [ $status = 0 ] && [ -z "$output" ] && return 1
  failed=$((failed + 1))
  case $status in
    0 | 125) ;;
    124) complain "$1" "$2" "it hangs" ;;
    *) complain "$1" "$2" "it ends with code $status" ;;
  esac
  if [ $status = 125 ] && ! grep -q '^viaduct-run: [A-Za-z].* .* ' <<<"$output"; then
    complain "$1" "$2" "no sentence"
  fi
  if grep -q 'terminate called\|bad_alloc\|what()' <<<"$output"; then complain "$1" "$2" "a raw exception"; fi
  return 0
}

for kind in memory descriptor mapping thread; do
  quiet=0
  number=1
  # Some failures are got around, and the processes do not all make the same number of calls.
  while [ $quiet -lt 12 ] && [ $wrong -lt 8 ]; do
    if try $kind $number; then quiet=0; else quiet=$((quiet + 1)); fi
    if [ $kind = memory ] && [ $number -ge 40 ]; then number=$((number + stride)); else number=$((number + 1)); fi
  done
done
sleep 0.2
if left=$(grep -lsaF "SET_UP_MARK=$mark" /proc/[0-9]*/environ); then
  echo "left: $left"
  wrong=$((wrong + 1))
fi
echo "$tried jobs, $failed of them with a failure that showed, $wrong wrong"
[ $failed -gt 40 ] || { echo "hardly anything has failed: is the library loaded?"; exit 1; }
[ $wrong = 0 ]
