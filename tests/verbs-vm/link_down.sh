#!/bin/bash
# usage: link_down.sh COMMAND..., in the guest: runs the command, which is given two last arguments: what takes the link of
# device rxe1 down, and what brings it up again. It is up afterwards. LINK_DOWN_TOLD names a file that is not there yet.
link=${BASH_SOURCE[0]%/*}/link.sh
place=$(mktemp -d) || exit 1
LINK_DOWN_TOLD=$place/told "$@" "$link down" "$link up"
status=$?
rm -rf "$place"
"$link" up || exit 1
exit $status
