#!/bin/bash
# usage: link_down.sh COMMAND..., in the guest: runs the command, which is given a last argument that takes the link of
# device rxe1 down; puts it up again. Routes over it are gone then: for the end of a suite.
"$@" 'ip link set veth1 down'
status=$?
ip link set veth1 up
exit $status
