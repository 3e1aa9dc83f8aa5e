#!/bin/bash
# usage: soft-verbs.sh FOLDER COMMAND...: runs the command on the software devices whose library and control program are
# in FOLDER, with a fabric and a control file of its own. When it fails, the devices' counters are shown.
folder=$1
shift
export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} PATH=$folder:$PATH
SOFT_VERBS_FABRIC=$$-$RANDOM
# In memory: a write to a shared page of a disk's file system can wait for seconds while that writes its journal, and a
# device that waits answers no packet.
memory=/dev/shm
[ -w $memory ] || memory=
SOFT_VERBS_CONTROL=$(mktemp ${memory:+-p $memory}) || exit 1
export SOFT_VERBS_FABRIC SOFT_VERBS_CONTROL VM_DEVICES="soft0 soft1"
# 16.8 ms, not 67: what is lost is repeated soon. No packet that is only slow is repeated, however busy the machine is.
export VIADUCT_VERBS_TIMEOUT=${VIADUCT_VERBS_TIMEOUT:-12}
trap 'rm -f "$SOFT_VERBS_CONTROL"' EXIT
"$@"
status=$?
[ $status = 0 ] || soft-verbs-control count
exit $status
