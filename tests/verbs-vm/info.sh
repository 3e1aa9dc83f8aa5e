#!/bin/bash
# usage: info.sh VIADUCT_INFO VIADUCT_RUN, in the guest or on software devices: viaduct-info finds the devices and says
# which way messages take; in the guest the doctor looks at the limit of locked memory, too.
info=$1 run=$2
read -r a b <<<"$VM_DEVICES"
status=0
wants() { # wants TEXT WHAT...: is in the output of WHAT
  local text=$1 output
  shift
  output=$("$@" 2>&1)
  grep -qE -- "$text" <<<"$output" || { echo "'$*' does not say '$text':"; echo "$output"; status=1; }
}
wants "$a port 1 +active, Ethernet, MTU (1024|2048|4096), [0-9.]+ Gb/s, GID [0-9]+ ::ffff:10.77.0.1 \(RoCE v2\); the one that is used" "$info"
wants "$b port 1 +active, Ethernet.*::ffff:10.77.0.2 \(RoCE v2\)$" "$info"
wants "at most [0-9]+ connections, [0-9]+ requests under way in each, [0-9]+ shared receives, [0-9]+ regions" "$info"
wants "$b port 1 .*; the one that is used" env VIADUCT_VERBS_DEVICE="$b" "$info"
wants "there is no RDMA device 'none' with such a port" env VIADUCT_VERBS_DEVICE=none "$info"
wants "on two hosts: provider verbs: the two are on different hosts; by $a port 1 \(RoCE v2\)" "$info" choose
wants "on one host:  provider shm" "$info" choose
wants "provider verbs: VIADUCT_PROVIDER forces verbs; by $b" env VIADUCT_PROVIDER=verbs:"$b" "$info" choose
# What is chosen for a size says the same on every device, so that it is asked where no emulation makes it slow.
sizes() {
  wants "written by RDMA with an immediate value" env VIADUCT_PROVIDER=verbs "$info" choose --bytes 56
  wants "payload and line written by RDMA at once" env VIADUCT_PROVIDER=verbs "$info" choose --bytes 57
  wants "as a bulk message: written by RDMA" env VIADUCT_PROVIDER=verbs "$info" choose --bytes 1000000
  wants "Split-C's reads and writes: by messages that the owner carries out: 8 bytes are less than 9 \(VIADUCT_SPLITC_RDMA_FROM=auto\), and RDMA does not promise" "$info" choose --bytes 8
  wants "Split-C's reads and writes: by RDMA read and write, without the owner's part: 4000 bytes are not less than 256 \(VIADUCT_SPLITC_RDMA_FROM=auto\)" "$info" choose --bytes 4000
  wants "Split-C.s reads and writes: by RDMA read and write or by messages .* whichever was faster when the program last tried both for 65 to 128 bytes" "$info" choose --bytes 100
  wants "by RDMA read and write, .* VIADUCT_SPLITC_PATH forces rdma, where a device need not" env VIADUCT_SPLITC_PATH=rdma "$info" choose --bytes 8
  wants "by messages that the owner carries out: VIADUCT_SPLITC_PATH forces message" env VIADUCT_SPLITC_PATH=message "$info" choose --bytes 4000
}
[ -z "${SOFT_VERBS_CONTROL-}" ] || sizes
hosts=("$run" --hosts a,b --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}')
VIADUCT_VERBS_DEVICE=$a,$b
export VIADUCT_VERBS_DEVICE
wants "from rank 0 to rank 1 \(on hosts 0 and 1\)" "${hosts[@]}" "$info" choose
wants "the two are on different hosts; by $a port 1" "${hosts[@]}" "$info" choose --from 1 --to 0
hosts[2]=a:2,b:2
wants "the two are on different hosts; by $b port 1" "${hosts[@]}" "$info" choose --from 3 --to 0
# RDMA needs locked memory.
doctor() {
  wants "^ok +locked memory: unlimited" "$info" doctor
  (
    ulimit -l 8192
    status=0
    wants "^ok +locked memory: unlimited by CAP_IPC_LOCK \(ulimit -l is 8.0 MiB\)" "$info" doctor
    bound=(setpriv --inh-caps=-ipc_lock --bounding-set=-ipc_lock "$info" doctor)
    wants "^PROBLEM +locked memory: 8.0 MiB" "${bound[@]}"
    wants "fix: .*memlock unlimited" "${bound[@]}"
    "${bound[@]}" >/dev/null
    [ $? = 1 ] || { echo "the doctor is content with 8 MiB of locked memory"; status=1; }
    exit $status
  ) || status=1
}
[ -n "${SOFT_VERBS_CONTROL-}" ] || doctor
# Active Messages over this wire, as viaduct-info's own job has them.
wants "a peer talked to costs" env VIADUCT_PROVIDER=verbs "$info"
exit $status
