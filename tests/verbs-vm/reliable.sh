#!/bin/bash
# usage: reliable.sh cut|cut answers|cut all|heal, in the guest or on software devices: whether packets of reliable connections arrive, or only
# those that answer, or all of RoCE's. Control messages do, but for `all`.
[ -z "${SOFT_VERBS_CONTROL-}" ] || exec soft-verbs-control "$@"
set -e
for interface in $VM_INTERFACES; do
  if [ "$1" = heal ]; then
    tc qdisc del dev "$interface" ingress
    continue
  fi
  # The first byte behind the IP header (20) and the UDP header (8) is the operation; its upper three bits are the kind
  # of queue pair, 0 for reliable connections.
  match="match u8 0x00 0xe0 at 28"
  # Acknowledgements, and answers to reads of less than a packet.
  [ "${2-}" != answers ] || match="match u8 0x10 0xfe at 28"
  [ "${2-}" != all ] || match="match u16 4791 0xffff at 22"
  tc qdisc add dev "$interface" ingress
  tc filter add dev "$interface" ingress protocol ip u32 match ip protocol 17 0xff $match action drop
done
