#!/bin/bash
# usage: lossy.sh PERCENT COMMAND..., in the guest or on software devices: runs the command while so many packets are lost in each direction.
percent=$1
shift
if [ -n "${SOFT_VERBS_CONTROL-}" ]; then
  soft-verbs-control faults "loss=$percent%" && "$@"
  status=$?
  echo "lost $(soft-verbs-control count lost)"
  [ "$(soft-verbs-control count lost)" != 0 ] || { echo "nothing was lost: nothing is shown"; status=1; }
  exit $status
fi
trap 'for interface in $VM_INTERFACES; do tc qdisc del dev "$interface" root 2>/dev/null; done' EXIT
for interface in $VM_INTERFACES; do
  tc qdisc add dev "$interface" root netem loss "$percent%" || exit 1
done
"$@"
status=$?
for interface in $VM_INTERFACES; do
  tc -s qdisc show dev "$interface" | grep -o 'dropped [0-9]*' | head -n 1
  dropped=$(tc -s qdisc show dev "$interface" | grep -o 'dropped [0-9]*' | head -n 1 | cut -d' ' -f2)
  [ "${dropped:-0}" -gt 0 ] || { echo "nothing was lost on $interface: nothing is shown"; status=1; }
done
exit $status
