#!/bin/bash
# usage: no_rnr.sh COMMAND..., in the guest: runs it; no message may have met an empty receive queue meanwhile. If one has,
# it prints what else the devices have counted since the start.
counters() { grep . /sys/class/infiniband/*/ports/1/hw_counters/* | sed 's|.*infiniband/\([^/]*\)/.*/|\1 |; s/:/ /'; }
before=$(counters | awk '$2 == "send_rnr_err" { sum += $3 } END { print sum + 0 }')
"$@" || exit $?
after=$(counters | awk '$2 == "send_rnr_err" { sum += $3 } END { print sum + 0 }')
[ "$before" != "$after" ] || exit 0
echo "$((after - before)) messages met an empty receive queue"
counters | awk '$3 != 0'
exit 1
