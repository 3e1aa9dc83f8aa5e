#!/bin/bash
# usage: lone_device.sh COMMAND..., in the guest or on software devices: runs the command where rank 1 has a device whose port goes down without
# taking rank 0's along. The command is given two last arguments: what takes it down, and what brings it up. DEVICES in an
# argument becomes a list of hosts that have the names of the two devices; the command says which device each host has.
use() {
  case "$*" in
    *DEVICES*) ;;
    *) export VIADUCT_VERBS_DEVICE=$1,$2 ;;
  esac
  hosts=$1:1,$2:1
}
if [ -n "${SOFT_VERBS_CONTROL-}" ]; then
  use soft0 soft1 "$@"
  exec "${@/DEVICES/$hosts}" "soft-verbs-control port down soft1" "soft-verbs-control port up soft1"
fi
modprobe dummy numdummies=0
ip link add lone0 mtu 4200 type dummy && ip address add 10.77.2.1/32 dev lone0 && ip link set lone0 up &&
  rdma link add rxelone type rxe netdev lone0 || exit 1
use rxe0 rxelone "$@"
"${@/DEVICES/$hosts}" "ip link set lone0 down" "ip link set lone0 up"
status=$?
rdma link delete rxelone
ip link delete lone0
exit $status
