#!/usr/bin/env bash
# launcher_cut.sh VIADUCT_RUN ACTOR: two hosts, which are network namespaces of this machine with a link between them; the
# link is cut. Either side knows within the time of TCP's keep-alive (15 s), and no process is left on either. Exits with
# 77 where namespaces cannot be made.
set -euo pipefail
run=$1 actor=$2
place=$(mktemp -d)
tag=launcher-cut-$$
spaces=()
finish() {
  for pid in "${spaces[@]}"; do kill "$pid" 2>/dev/null || true; done # namespaces and wire end with them
  rm -rf "$place"
}
trap finish EXIT
fail() {
  echo "$*"
  cat "$place"/*.out
  exit 1
}

for end in a b; do
  unshare -n sleep 600 2>"$place/unshare" & # `sleep` once it has its namespace
  spaces+=($!)
done
in_space() { # in_space NUMBER COMMAND...
  local pid=${spaces[$1]}
  shift
  nsenter -t "$pid" -n "$@"
}
for i in 0 1; do
  for _ in $(seq 50); do
    [ "$(readlink "/proc/${spaces[i]}/ns/net" 2>/dev/null)" != "$(readlink /proc/self/ns/net)" ] && break
    kill -0 "${spaces[i]}" 2>/dev/null || break
    sleep 0.05
  done
  in_space $i ip link set lo up 2>/dev/null || { echo "no network namespaces here: skipped"; exit 77; }
done
in_space 0 ip link add wire0 type veth peer name wire1 netns "${spaces[1]}" 2>/dev/null ||
  { echo "no pair of virtual network devices here: skipped"; exit 77; }
for i in 0 1; do in_space $i ip address add 10.78.0.$((i + 1))/24 dev wire$i && in_space $i ip link set wire$i up; done

running() {
  local all=(/proc/[0-9]*/cmdline) # here, where grep is not among them yet
  grep -lsF -- "$tag" "${all[@]}" | cut -d/ -f3 || true
}
none_left() {
  for _ in $(seq 200); do
    [ -n "$(running)" ] || return 0
    sleep 0.1
  done
  fail "processes are left: $(running)"
}
wait_for() { # wait_for LINES TEXT
  for _ in $(seq 200); do
    [ "$(cat "$place"/*.out | grep -c -- "$2")" -lt "$1" ] || return 0
    sleep 0.1
  done
  fail "'$2' does not come $1 times"
}
cut() {
  in_space 0 ip link set wire0 down
  start=$SECONDS
}
join() { in_space 0 ip link set wire0 up; }
in_time() { [ $((SECONDS - start)) -lt 40 ] || fail "it took $((SECONDS - start)) s"; }

# viaduct-run --hosts: ranks 2 and 3 are beyond the wire.
enter='/bin/sh -c "if [ {host} = a ]; then exec sh -c \"\$0\"; fi; exec nsenter -t '${spaces[1]}' -n sh -c \"\$0\"" {command}'
in_space 0 "$run" --hosts a:2,b:2 --remote-command "$enter" --keep-going "$actor" "$tag" await-loss 2 >"$place/hosts.out" 2>&1 &
job=$!
wait_for 4 ready
cut
status=0
wait $job || status=$?
in_time
[ $status = 125 ] || fail "status $status"
grep -q "host b: .*; ranks 2 to 3 are lost" "$place/hosts.out" || fail "the host beyond the wire is not named"
for rank in 2 3; do
  [ "$(grep -c "^lost $rank" "$place/hosts.out")" = 2 ] || fail "not both ranks of this side know that rank $rank is lost"
done
none_left
join

# Rendezvous: nobody is told to end, so each side goes on without the other.
export VIADUCT_RENDEZVOUS=tcp://10.78.0.1:7777 VIADUCT_SIZE=4 VIADUCT_JOB_SECRET=0123456789abcdef0123456789abcdef
rm "$place/hosts.out"
jobs=()
for rank in 0 1 2 3; do
  VIADUCT_RANK=$rank in_space $((rank / 2)) "$actor" "$tag" await-loss 2 >"$place/$rank.out" 2>&1 &
  jobs+=($!)
done
wait_for 4 ready
cut
for rank in 0 1 2 3; do
  status=0
  wait "${jobs[rank]}" || status=$?
  [ $status = 0 ] || fail "rank $rank ends with $status"
  for lost in 0 1 2 3; do
    [ $((lost / 2)) = $((rank / 2)) ] || grep -q "^lost $lost" "$place/$rank.out" ||
      fail "rank $rank does not know that rank $lost is lost"
  done
done
in_time
none_left
