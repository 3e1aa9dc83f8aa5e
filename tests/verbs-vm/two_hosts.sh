#!/bin/bash
# usage: two_hosts.sh VIADUCT_RUN TWO_HOSTS TEST..., in both guests: guest 0 starts jobs on both, guest 1 serves until it is over.
# How each test ended is in VM_SHARED/NAME.status, its output in VM_SHARED/NAME.log.
run=$1 two_hosts=$2
shift 2
tests=("$@")
cd /tmp || exit 2
# A name that leads each guest to itself by its loopback, and the others to its address, as Debian sets up machines.
echo "127.0.1.1 vm$VM_NODE" >>/etc/hosts
echo "$VM_PEER vm$((1 - VM_NODE))" >>/etc/hosts

# Both guests share the keys and the port.
ssh="ssh -F none -p 2222 -i /run/sshd/key -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
ssh+=" -o LogLevel=ERROR -o ConnectTimeout=60"
export VIADUCT_JOIN_TIMEOUT=600s # emulated machines start programs slowly beside other tests
start_server() {
  mkdir -p /run/sshd
  if [ "$VM_NODE" = 0 ]; then
    ssh-keygen -q -t ed25519 -N '' -f "$VM_SHARED/key" && touch "$VM_SHARED/key.made"
  fi
  for _ in $(seq 300); do [ ! -e "$VM_SHARED/key.made" ] || break; sleep 0.1; done
  cp "$VM_SHARED/key" "$VM_SHARED/key.pub" /run/sshd/ && chmod 600 /run/sshd/key
  printf '%s\n' 'Port 2222' 'HostKey /run/sshd/key' 'AuthorizedKeysFile /run/sshd/key.pub' 'PidFile none' 'UsePAM no' \
    'StrictModes no' 'PermitRootLogin prohibit-password' 'MaxStartups 100' >/run/sshd/config
  /usr/sbin/sshd -f /run/sshd/config
}
start_server || { echo "no sshd (Debian: openssh-server)"; exit 77; }

# Nothing comes into this guest any more, and nothing leaves it.
cut_link="tc qdisc add dev eth0 ingress && tc filter add dev eth0 ingress matchall action drop && \
  tc qdisc add dev eth0 root netem loss 100%"
programs() { cat /proc/[0-9]*/comm 2>/dev/null | grep -cx two_hosts; }
if [ "$VM_NODE" = 1 ]; then
  # The network may be down: word comes by the folder that both see.
  until [ -e "$VM_SHARED/over" ]; do
    if [ -e "$VM_SHARED/count" ]; then
      for _ in $(seq 100); do [ "$(programs)" != 0 ] || break; sleep 0.2; done
      programs >"$VM_SHARED/left"
      rm "$VM_SHARED/count"
    fi
    sleep 0.1
  done
  exit 0
fi
trap 'touch "$VM_SHARED/over"' EXIT
for host in vm0 vm1; do
  for _ in $(seq 100); do $ssh $host true && break; sleep 0.2; done
done

on_both=("$run" --hosts vm0:2,vm1:2 --remote-command "$ssh" --timeout 1200) # which only a hang reaches
status=0
expect() { # expect STATUS WHAT COMMAND...: the output is in the log of this test
  local wanted=$1 what=$2 got=0 start=$SECONDS
  shift 2
  timeout 1230 "$@" || got=$?
  echo "$what: status $got after $((SECONDS - start)) s"
  [ $got = "$wanted" ] || fail "$what: status $got, not $wanted"
}
fail() {
  echo "$*"
  status=1
}
lines() { # lines COUNT TEXT: of this test's output so far
  [ "$(grep -c -- "$2" "$VM_SHARED/$name.log")" = "$1" ] || fail "'$2' does not stand there $1 times"
}

# A busy machine may leave a guest without a processor for longer than the default's repetitions (0.5 s): its peers would
# hold it for lost.
patient="VIADUCT_VERBS_TIMEOUT=19" # 2.1 s for each repetition

exchange() {
  expect 0 "viaduct-run on two hosts" env $patient "${on_both[@]}" "$two_hosts" exchange
  lines 4 "packets to itself"
}

# The name of guest 0 leads it to its loopback: the hub must be there for guest 1 all the same.
exchange_rendezvous() {
  local rank settings
  settings="$patient VIADUCT_RENDEZVOUS=tcp://vm0:7777 VIADUCT_SIZE=4 VIADUCT_JOB_SECRET=0123456789abcdef0123456789abcdef"
  # shellcheck disable=SC2086
  for rank in 0 1; do env $settings VIADUCT_RANK=$rank timeout 100 "$two_hosts" exchange & done
  expect 0 "ranks of the other host" $ssh vm1 "
    export $settings
    VIADUCT_RANK=2 timeout 100 $two_hosts exchange & first=\$!
    VIADUCT_RANK=3 timeout 100 $two_hosts exchange && wait \$first"
  for _ in 0 1; do wait -n || fail "a rank of this host fails"; done
  lines 4 "packets to itself"
}

killed() {
  expect 137 "a rank of the other host is killed" "${on_both[@]}" --keep-going "$two_hosts" kill 3
  lines 3 "lost rank 3 after"
  lines 1 "rank 3 (pid [0-9]* on vm1) was killed by signal 9"
  expect 137 "and without --keep-going" "${on_both[@]}" "$two_hosts" kill 2
  [ "$(programs)" = 0 ] || fail "processes are left"
}

vanished() {
  local rank file=$VM_SHARED/vanish.lines
  export VIADUCT_HANG_REPORT=4s
  expect 125 "the other host vanishes" "${on_both[@]}" --keep-going "$two_hosts" vanish "$file" "$cut_link"
  lines 1 "host vm1: .*; ranks 2 to 3 are lost"
  for rank in 0 1 2 3; do
    cat "$file.$rank" "$file.err.$rank"
    [ "$(grep -c 'lost [0-3] after' "$file.$rank")" = 2 ] || fail "rank $rank does not know all that it has lost"
    grep -q 'talks to the others' "$file.$rank" || fail "rank $rank is not well"
  done
  [ "$(programs)" = 0 ] || fail "processes are left here"
  touch "$VM_SHARED/count"
  for _ in $(seq 300); do [ -e "$VM_SHARED/count" ] || break; sleep 0.1; done
  [ "$(cat "$VM_SHARED/left")" = 0 ] || fail "processes are left there: $(cat "$VM_SHARED/left")"
}

for name in "${tests[@]}"; do
  start=$SECONDS
  status=0
  : >"$VM_SHARED/$name.log"
  # In this shell, for the status.
  $name >>"$VM_SHARED/$name.log" 2>&1 </dev/null
  echo $status >"$VM_SHARED/$name.status"
  echo "verbs-vm: two_hosts $name: status $status after $((SECONDS - start)) s"
done
exit 0
