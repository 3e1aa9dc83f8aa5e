#!/bin/bash
# usage: no_rnr.sh COMMAND..., in the guest or on software devices: runs it; no message may have met an empty receive queue meanwhile. If one has,
# it prints what else the devices have counted since the start.
if [ -n "${SOFT_VERBS_CONTROL-}" ]; then
  "$@" || exit $?
  [ "$(soft-verbs-control count receiver_not_ready)" != 0 ] || exit 0
  echo "$(soft-verbs-control count receiver_not_ready) messages met an empty receive queue"
  exit 1
fi
counters() { grep . /sys/class/infiniband/*/ports/1/hw_counters/* | sed 's|.*infiniband/\([^/]*\)/.*/|\1 |; s/:/ /'; }
before=$(counters | awk '$2 == "send_rnr_err" { sum += $3 } END { print sum + 0 }')
"$@" || exit $?
after=$(counters | awk '$2 == "send_rnr_err" { sum += $3 } END { print sum + 0 }')
[ "$before" != "$after" ] || exit 0
echo "$((after - before)) messages met an empty receive queue"
counters | awk '$3 != 0'
exit 1
