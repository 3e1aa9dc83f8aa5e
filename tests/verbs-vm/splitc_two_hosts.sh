#!/bin/bash
# usage: splitc_two_hosts.sh COMMAND..., in both guests: each command is a job of four ranks, two on each host, that meet
# by a rendezvous in guest 0. Fails when a rank of this guest does.
export VIADUCT_SIZE=4 VIADUCT_JOB_SECRET=0123456789abcdef0123456789abcdef
address=$VM_PEER
[ "$VM_NODE" != 0 ] || address=${VM_ADDRESSES%% *}
port=7800
status=0
for command in "$@"; do
  port=$((port + 1))
  start=$SECONDS
  ranks=()
  for rank in 0 1; do
    # shellcheck disable=SC2086  # a command and its arguments
    VIADUCT_RENDEZVOUS=tcp://$address:$port VIADUCT_RANK=$((2 * VM_NODE + rank)) timeout 120 $command </dev/null &
    ranks+=($!)
  done
  for rank in "${ranks[@]}"; do
    wait "$rank" || { echo "process $rank of $command failed: $?"; status=1; }
  done
  echo "guest $VM_NODE: $command: $((SECONDS - start)) s"
done
exit $status
