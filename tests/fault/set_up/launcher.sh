#!/bin/bash
# usage: launcher.sh VIADUCT_RUN INJECT_LIBRARY STRIDE [launcher|agent]: starts jobs of two ranks, each with one failing call
# in one of viaduct-run's own processes: every STRIDE-th allocation, every descriptor, mapping, thread and process. With a
# fourth word this machine plays two hosts, and the call fails in the launcher or in the agent of the second host; without,
# each of the first forty allocations fails, too. A job ends well, or with exit code 125 and one sentence of viaduct-run's;
# it leaves no process and no file behind.
if [ "$1" = --on ]; then  # the remote command: launcher.sh --on HOST COMMAND
  export VIADUCT_HOST_KEY=$2
  if [ "$2" = b ] && [ -n "$AGENT_LIBRARY" ]; then
    export LD_PRELOAD=$AGENT_LIBRARY
  else
    unset LD_PRELOAD
  fi
  exec /bin/sh -c "$3"
fi
run=$1
library=$2
stride=$3
where=$4
each=40
patience=12
least=40
options=(-n 2 --label)
program=(sh -c 'yes | head -n 40000')
mark=launcher-$$-$RANDOM
tried=0
failed=0
wrong=0
place=$(mktemp -d) || exit 1
trap 'rm -rf "$place"' EXIT
if [ -n "$where" ]; then
  each=1
  patience=4
  least=8
  program=(true)
  options=(--hosts a,b --remote-command "$(readlink -f "$0") --on {host} {command}")
fi
cd "$place" || exit 1

complain() {
  echo "$1 $2: $3"
  sed 's/^/    /' <<<"$output" | head -4
  wrong=$((wrong + 1))
}

# start: one job; LD_PRELOAD is set for viaduct-run alone, not for the shell's own commands. The output of the job's programs
# goes elsewhere; on one host it is more than a pipe holds.
start() {
  if [ "$where" = agent ]; then
    AGENT_LIBRARY=$library timeout 100 "$run" "${options[@]}" true 2>&1
  else
    LD_PRELOAD=$library timeout 100 "$run" "${options[@]}" "${program[@]}" 2>&1 >/dev/null
  fi
}

# try KIND NUMBER: one job.  Answers whether the call has failed.
try() {
  output=$(INJECT=$1:$2 INJECT_PROGRAM=viaduct-run SET_UP_MARK=$mark TMPDIR=$place start)
  status=$?
  tried=$((tried + 1))
  [ $status = 0 ] && [ -z "$output" ] && return 1
  failed=$((failed + 1))
  case $status in
    0 | 125) ;;
    124) complain "$1" "$2" "it hangs" ;;
    *) complain "$1" "$2" "it ends with code $status" ;;
  esac
  if [ $status = 125 ] && ! grep -q '^viaduct-run: [a-z].* .* ' <<<"$output"; then
    complain "$1" "$2" "no sentence"
  fi
  # A sentence of viaduct-run begins in lower case, the name of an error that the system gives does not.
  if grep -q 'terminate called\|bad_alloc\|what()\|^viaduct-run: [A-Z]' <<<"$output"; then complain "$1" "$2" "a raw exception"; fi
  return 0
}

for kind in memory descriptor mapping thread process; do
  quiet=0
  number=1
  # Some failures are got around, and the processes do not all make the same number of calls.
  while [ $quiet -lt $patience ] && [ $wrong -lt 8 ]; do
    if try $kind $number; then quiet=0; else quiet=$((quiet + 1)); fi
    if [ $kind = memory ] && [ $number -ge $each ]; then number=$((number + stride)); else number=$((number + 1)); fi
  done
done
sleep 0.2
if left=$(grep -lsaF "SET_UP_MARK=$mark" /proc/[0-9]*/environ); then
  echo "left: $left"
  wrong=$((wrong + 1))
fi
if [ -n "$(ls -A "$place")" ]; then
  echo "left: $(ls -A "$place")"
  wrong=$((wrong + 1))
fi
echo "$tried jobs, $failed of them with a failure that showed, $wrong wrong"
[ $failed -gt $least ] || { echo "hardly anything has failed: is the library loaded?"; exit 1; }
[ $wrong = 0 ]
