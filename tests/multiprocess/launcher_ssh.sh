#!/usr/bin/env bash
# launcher_ssh.sh VIADUCT_RUN ACTOR: viaduct-run --hosts over ssh, to a server of this machine, made here and ended here.
# Exits with 77 where there is none, or where it lets nobody in.
set -euo pipefail
run=$1 actor=$2
# shellcheck source=/dev/null
. "$(dirname "$0")/sshd.sh"
place=$(mktemp -d "${TMPDIR:-/tmp}/launcher ssh.XXXXXX")
tag=launcher-ssh-$$
sshd_pid=
finish() {
  if [ -n "$sshd_pid" ]; then
    kill "$sshd_pid" 2>/dev/null && wait "$sshd_pid" || true
  fi
  rm -rf "$place"
}
trap finish EXIT
start_sshd "$place" 127.0.0.1 || { echo "$sshd_problem: skipped"; exit 77; }

fail() {
  echo "$*"
  cat "$place/out" "$place/err"
  exit 1
}
# launch WANTED-STATUS WORDS...: viaduct-run on two hosts, the output in $place/out and $place/err; nothing may be left.
launch() {
  local wanted=$1 status=0
  shift
  "$run" --hosts 127.0.0.1:2,localhost:2 --remote-command "$ssh" "$@" >"$place/out" 2>"$place/err" || status=$?
  [ $status = "$wanted" ] || fail "status $status instead of $wanted: $*"
  none_left
}
# running TEXT: the processes with TEXT in one word of their command lines.
running() {
  local all=(/proc/[0-9]*/cmdline) # here, where grep is not among them yet
  grep -lsF -- "$1" "${all[@]}" | cut -d/ -f3 || true
}
none_left() {
  for _ in $(seq 4000); do # minutes: only what does not end reaches it
    [ -n "$(running $tag)" ] || return 0
    sleep 0.05
  done
  fail "processes are left: $(running $tag)"
}
wait_for() { # wait_for LINES TEXT FILE
  for _ in $(seq 3000); do
    [ "$(grep -c -- "$2" "$3")" -lt "$1" ] || return 0
    sleep 0.1
  done
  fail "'$2' does not come $1 times"
}

launch 0 "$actor" $tag spread </dev/null
[ "$(grep -c "of 4 on host [01] of 2 with" "$place/out")" = 4 ] || fail "no one job of 4"
# The host's name is behind the options, the command behind both.
"$run" --hosts 127.0.0.1 --remote-command "$ssh {host} 'echo before; '{command}" "$actor" $tag describe >"$place/out" 2>"$place/err" ||
  fail "a command that begins with something else"
grep -q before "$place/out" || fail "what begins it is not run"

head -c 300000 /dev/zero | tr '\0' x >"$place/input"
launch 0 "$actor" $tag stdin <"$place/input"
grep -qx "rank 0 read 300000" "$place/out" || fail "standard input does not come whole"
grep -qx "rank 3 read 0" "$place/out" || fail "rank 3 has standard input"
VIADUCT_SPIN_NS=10us launch 0 "$actor" $tag describe </dev/null
[ "$(grep -c spins "$place/out")" = 4 ] || fail "settings do not come along"

launch 0 --label "$actor" $tag lines-well 20000 </dev/null
for rank in 0 1 2 3; do
  seq 0 19999 | sed "s/.*/[$rank] line & of rank $rank/" >"$place/wanted"
  grep "^\[$rank\] line" "$place/out" | cmp -s - "$place/wanted" || fail "lines of rank $rank are torn, missing or out of order"
  [ "$(grep -c "^\[$rank\] error" "$place/err")" = 20000 ] || fail "errors of rank $rank are missing"
done

launch 7 "$actor" $tag return 3 7 </dev/null
grep -q "on localhost) exited with code 7; it is the first to fail" "$place/err" || fail "who failed is not said"
launch 77 "$actor" $tag return 1 77 </dev/null
launch 137 --keep-going "$actor" $tag die-behind 3 </dev/null
[ "$(grep -c "was told" "$place/out")" = 3 ] || fail "not all were told of the loss"
grep -q "rank 3 (pid [0-9]* on localhost) was killed by signal 9" "$place/err" || fail "who was killed is not said"
launch 124 --timeout 1 "$actor" $tag hang </dev/null
grep -q "the time limit of 1 s has passed" "$place/err" || fail "the time limit is not said"
launch 125 /no/such/program </dev/null

# The output of the job before is not to be taken for that of a job that starts in the background.
forget() {
  : >"$place/out" 2>"$place/err"
}
# hang: starts a job that hangs, with its process in $job.
hang() {
  forget
  "$run" --hosts 127.0.0.1:2,localhost:2 --remote-command "$ssh" "$actor" $tag hang >"$place/out" 2>"$place/err" </dev/null &
  job=$!
  wait_for 4 ready "$place/out"
}
hang
kill -9 $job
none_left
{ wait $job || true; } 2>/dev/null
hang
kill -USR1 $job
wait_for 4 "waiting for a credit" "$place/err"
kill -TERM $job
status=0
wait $job || status=$?
[ $status = 143 ] || fail "status $status after SIGTERM"
none_left
# The client of one host is killed: that host is lost, and the job ends.
hang
for pid in $(running "$place/user key"); do
  if grep -qxz localhost "/proc/$pid/cmdline" 2>/dev/null; then kill -9 "$pid"; fi
done
status=0
wait $job || status=$?
[ $status = 125 ] || fail "status $status after the end of an ssh"
grep -q "host localhost: .*; ranks 2 to 3 are lost" "$place/err" || fail "the host that is lost is not named"
none_left

status=0
"$run" --hosts 127.0.0.1 --remote-command "ssh -F none -o BatchMode=yes -o UserKnownHostsFile=/dev/null -p $sshd_port" \
  "$actor" $tag ok >"$place/out" 2>"$place/err" || status=$?
[ $status = 125 ] || fail "status $status for a host whose key is not known"
grep -q "host 127.0.0.1: its remote command ended with code 255 before the agent had come: ssh " "$place/err" ||
  fail "the ssh that fails is not shown"

# kill_all NAME TEXT: kills the processes called NAME with TEXT in one word of their command lines.
kill_all() {
  local pid
  for pid in $(running "$2"); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$1" ] || kill -9 "$pid" 2>/dev/null || true
  done
}
# called NAME TEXT: waits for such a process.
called() {
  local pid
  for _ in $(seq 1200); do
    for pid in $(running "$2"); do
      [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$1" ] || return 0
    done
    sleep 0.05
  done
  fail "no $1 with $2 comes"
}

# viaduct-run is killed when its agents run and cannot have reached it yet: nobody has the address. They do not stay until
# the time for joining has passed (50 to 90 s, by which the command lines of this run are known among others').
joining=$((50000 + $$ % 40000))
VIADUCT_JOIN_TIMEOUT=${joining}ms "$run" --hosts 127.0.0.1:1,localhost:1 --remote-command "$ssh" --address 192.0.2.1 \
  "$actor" $tag ok >"$place/out" 2>"$place/err" </dev/null &
job=$!
called viaduct-run $joining
kill -9 $job
{ wait $job || true; } 2>/dev/null
for _ in $(seq 400); do # less than the time for joining
  [ -n "$(running $joining)" ] || break
  sleep 0.05
done
[ -z "$(running $joining)" ] || fail "agents are left: $(running $joining)"

# ssh -t: the job below sshd's terminal ends with the connection, also with ranks that ignore SIGTERM.
forget
eval "$ssh -tt 127.0.0.1 \"trap '' TERM; $run -n 2 $actor $tag hang\"" >"$place/out" 2>"$place/err" </dev/null &
job=$!
wait_for 2 ready "$place/out"
kill_all ssh "$tag hang"
{ wait $job || true; } 2>/dev/null
none_left
