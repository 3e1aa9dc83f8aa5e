#!/bin/bash
# usage: no_rnr.sh COMMAND..., in the guest: runs it; no message may have met an empty receive queue meanwhile.
count() { cat /sys/class/infiniband/*/ports/1/hw_counters/send_rnr_err | paste -sd+ | sed 's/^/echo $((/; s/$/))/' | bash; }
before=$(count)
"$@" || exit $?
after=$(count)
[ "$before" = "$after" ] || { echo "$((after - before)) messages met an empty receive queue"; exit 1; }
