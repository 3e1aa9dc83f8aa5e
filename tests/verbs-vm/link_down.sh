#!/bin/bash
# usage: link_down.sh COMMAND..., in the guest: runs the command, which is given two last arguments: what takes the link of
# device rxe1 down, and what brings it up again. It is up afterwards.
link=${BASH_SOURCE[0]%/*}/link.sh
"$@" "$link down" "$link up"
status=$?
"$link" up || exit 1
exit $status
