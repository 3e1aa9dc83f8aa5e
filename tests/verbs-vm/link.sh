#!/bin/bash
# usage: link.sh up|down, in the guest: the link of device rxe1, or of all software devices. What the kernel forgets when it goes down, up brings back.
[ -z "${SOFT_VERBS_CONTROL-}" ] || exec soft-verbs-control port "$1"
set -e
read -r a b <<<"$VM_ADDRESSES"
ip link set veth1 "$1"
for device in rxe0 rxe1; do
  port=/sys/class/infiniband/$device/ports/1/state
  for _ in $(seq 50); do
    case $1:$(cat $port) in up:*ACTIVE | down:*DOWN) break ;; esac
    sleep 0.1
  done
  case $1:$(cat $port) in up:*ACTIVE | down:*DOWN) ;; *) echo "port of $device: $(cat $port), not $1"; exit 1 ;; esac
done
[ "$1" = up ] || exit 0
ip neighbour replace "$b" lladdr "$(cat /sys/class/net/veth1/address)" dev veth0 nud permanent
ip neighbour replace "$a" lladdr "$(cat /sys/class/net/veth0/address)" dev veth1 nud permanent
ip route replace "$b/32" dev veth0 src "$a" table 100
ip route replace "$a/32" dev veth1 src "$b" table 101
