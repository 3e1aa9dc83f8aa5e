#!/bin/bash
# usage: memory_lock.sh VIADUCT_RUN PROGRAM, in the guest: an ordinary user whose memory lock is too small is told what
# to do, and one who has little of it gets along with little.
run=$1 program=$2
status=0
chmod 666 /dev/infiniband/uverbs* # as udev's rules of rdma-core do
# The project may lie where only its owner may look; changes here stay in the guest.
for path in "$run" "$program"; do
  while [ "$path" != / ]; do
    chmod o+rx "$path"
    path=$(dirname "$path")
  done
done
# as_user SOFT HARD COMMAND...: with these limits, in bytes.
as_user() {
  prlimit --memlock="$1:$2" setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "${@:3}"
}
wants() { # wants TEXT SENTENCE...
  local text=$1 sentence
  for sentence in "${@:2}"; do
    grep -qF -- "$sentence" <<<"$text" || { echo "missing: $sentence"; status=1; }
  done
}
text=$(as_user 65536 65536 "$run" -n 2 --timeout 60 "$program" content 2>&1) && { echo "64 KiB were enough"; status=1; }
echo "$text"
wants "$text" "may lock 64 KiB (RLIMIT_MEMLOCK)" "needs at least" "'* - memlock unlimited' in /etc/security/limits.d/rdma.conf" \
  "LimitMEMLOCK=infinity" "--ulimit memlock=-1" "[VIA-2004]"
text=$(as_user 65536 unlimited "$run" -n 2 --timeout 60 "$program" content 2>&1) && { echo "64 KiB were enough"; status=1; }
echo "$text"
wants "$text" "Raise the limit: 'ulimit -l unlimited'"
# 8 MiB: a segment of 4, rings, and half for what is transferred. It cannot all be had, so something is copied.
as_user 8388608 8388608 "$run" -n 2 --timeout 100 "$program" limited 4194304 || status=1
exit $status
