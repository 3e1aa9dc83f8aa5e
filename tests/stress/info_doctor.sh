#!/usr/bin/env bash
# info_doctor.sh VIADUCT_INFO VIADUCT_RUN WITHOUT_SYSCALLS ALL_PAIRS SPLITC_MODEL [SANITIZERS]: `viaduct-info doctor` finds what is wrong, says
# how to mend it, and ends with 1 exactly when there is a problem; `choose` says the way of a message.
set -euo pipefail
info=$1 run=$2 without=$3 all_pairs=$4 splitc=$5 sanitizers=${6-}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

fail() { echo "$*"; exit 1; }
# doctor WANTED-CODE [COMMAND...]: the report, in $report
doctor() {
  local wanted=$1 code=0
  shift
  report=$("$@" "$info" doctor --system-root "$root") || code=$?
  [ "$code" = "$wanted" ] || fail "status $code instead of $wanted: $report"
}
says() { grep -qF -- "$1" <<<"$report" || fail "the report lacks '$1': $report"; }
paragraph() { grep -A2 -E "^(ok|hint|PROBLEM) +$1" <<<"$report" || true; }
says_of() { grep -qF -- "$2" <<<"$(paragraph "$1")" || fail "nothing of '$2' under '$1': $report"; }

# A machine where all is well, as far as files tell.
root=$place/good
mkdir -p "$root/proc/self" "$root/proc/sys/kernel/yama" "$root/sys/kernel/mm/transparent_hugepage"
printf 'MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n' >"$root/proc/meminfo"
: >"$root/proc/self/cgroup"
echo 0 >"$root/proc/sys/kernel/yama/ptrace_scope"
echo "always within_size [advise] never" >"$root/sys/kernel/mm/transparent_hugepage/shmem_enabled"
report=$("$info" doctor --system-root "$root" || true)
if grep -A3 PROBLEM <<<"$report"; then
  echo "this machine has problems of its own: skipped"
  exit 77
fi
doctor 0
says "No problems."
for subject in "locked memory" "/dev/shm" "shared memory" "process_vm_readv, _writev" "membarrier" "pidfd_open" \
  "huge pages of shared memory" "cores" "control group: processor time" "control group: memory" \
  "control group: processes" "open files" \
  "address space" "file size"; do says "$subject"; done
says_of "huge pages" "fix: echo within_size"

# seccomp
if "$without" membarrier /bin/true 2>/dev/null; then
  doctor 1 "$without" process_vm_readv,process_vm_writev
  says_of "process_vm_readv, _writev" "refused (Operation not permitted)"
  says "fix: docker run --cap-add=SYS_PTRACE"
  says "1 problem."
  doctor 1 "$without" membarrier
  says_of "membarrier" "refused"
  doctor 0 "$without" pidfd_open
  says_of "pidfd_open" "refused"
  doctor 0 "$without" userfaultfd
  says_of "userfaultfd" "refused"
  says_of "userfaultfd" "bulk transfers over verbs are copied"
  grep -q "memory kept registered  *none: bulk transfers are copied, since userfaultfd is refused" \
    <<<"$("$without" userfaultfd "$info")" ||
    fail "viaduct-info does not say that nothing is kept registered"
fi

# ulimit
limited() { (ulimit "$1" "$2" && shift 2 && "$@"); }
if [ -z "$sanitizers" ]; then # whose shadow memory needs more
  doctor 1 limited -v 4000000
  says_of "address space" "PROBLEM"
  says_of "address space" "the limit is enough for 0 ranks, in Split-C for 0"
  says "fix: ulimit -v unlimited"
  says "or export VIADUCT_SHM_WINDOW="
  # A rank maps its peer's memory, too.
  doctor 1 limited -v 20000000
  says_of "address space" "PROBLEM"
  says_of "address space" "the limit is enough for 1 rank, in Split-C for 0"
  doctor 1 limited -v 34000000
  says_of "address space" "the limit is enough for 2 ranks, in Split-C for 0"
  limited -v 34000000 "$run" -n 2 "$all_pairs" 20 || fail "a job of 2 ranks does not run where the doctor says so"
  # The settings that the doctor names are enough.
  settings() { sed -n "s/.*fix: ulimit -$1 unlimited.*, or export //p" <<<"$report"; }
  for limit in "-v 4000000" "-f 4000000"; do
    # shellcheck disable=SC2086
    doctor 1 limited $limit
    read -r -a changes <<<"$(settings "${limit:1:1}")"
    [ "${#changes[@]}" = 3 ] || fail "$limit: not three settings but '${changes[*]}'"
    # shellcheck disable=SC2086
    doctor 0 limited $limit env "${changes[@]}"
    for program in "$all_pairs 20" "$splitc --phases 2"; do
      # shellcheck disable=SC2086
      limited $limit env "${changes[@]}" "$run" -n 2 $program >/dev/null || fail "$limit: $program does not run with ${changes[*]}"
    done
  done
fi
doctor 1 limited -f 1024
says_of "file size" "PROBLEM"
# No window is so small: only a higher limit helps.
doctor 1 env VIADUCT_SHM_WINDOW=1M bash -c 'ulimit -Sf 1000; exec "$@"' sh
grep -A3 "^PROBLEM  file size" <<<"$report" | grep -qxF "         fix: ulimit -f unlimited" || fail "a remedy that does not work: $report"
doctor 1 limited -f 1000
says_of "file size" "PROBLEM"
grep -A3 "^PROBLEM  file size" <<<"$report" | grep -qF "fix: ulimit -f unlimited (as root: the hard limit is" || fail "$report"
doctor 1 limited -n 64
says_of "open files" "PROBLEM"
# Locked memory. CAP_IPC_LOCK lifts the limit; in a user namespace of its own a process may have it in vain.
capability() { [ $((0x$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status) >> 14 & 1)) = 1 ]; }
without_capability() { if capability; then setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@"; else "$@"; fi; }
# same_everywhere TEXT COMMAND...: the doctor, the machine's report and what is kept registered say TEXT.
same_everywhere() {
  local text=$1 all
  shift
  all=$("$@" "$info")
  grep -qxF -- "  locked memory                $text" <<<"$all" || fail "the machine's locked memory is not '$text': $all"
  if grep -q "memory kept registered  *up to" <<<"$all"; then
    grep -qF -- "locked memory: $text), for transfers" <<<"$all" || fail "what is kept registered lacks '$text': $all"
  fi
  grep -q -- " locked memory: $text\$" <<<"$report" || fail "the doctor's locked memory is not '$text': $report"
}
doctor 0 limited -l 64 without_capability
says_of "locked memory" "hint"
same_everywhere "64.0 KiB (at most 64.0 KiB)" limited -l 64 without_capability
mkdir -p "$root/sys/class/infiniband/mlx5_0"
doctor 1 limited -l 64 without_capability
says_of "locked memory" "PROBLEM"
says "memlock unlimited"
if capability && [ "$(awk '{print $1, $2, $3}' /proc/self/uid_map)" = "0 0 4294967295" ]; then
  doctor 0 limited -l 64
  says_of "locked memory" "ok"
  same_everywhere "unlimited by CAP_IPC_LOCK (ulimit -l is 64.0 KiB)" limited -l 64
fi
rm -r "$root/sys/class/infiniband"

# control groups and memory
printf '0::/\n' >"$root/proc/self/cgroup"
mkdir -p "$root/sys/fs/cgroup"
echo "150000 100000" >"$root/sys/fs/cgroup/cpu.max"
echo 100000000 >"$root/sys/fs/cgroup/memory.max"
echo 90000000 >"$root/sys/fs/cgroup/memory.current"
printf 'inactive_file 0\nactive_file 0\n' >"$root/sys/fs/cgroup/memory.stat"
doctor 1
says_of "control group: processor time" "a quota worth 2 cores"
says_of "control group: memory" "memory.max"
says_of "control group: memory" "PROBLEM"
says "fix: echo max > $root/sys/fs/cgroup/memory.max"
echo max >"$root/sys/fs/cgroup/memory.max"
echo 3 >"$root/sys/fs/cgroup/pids.max"
echo 2 >"$root/sys/fs/cgroup/pids.current"
doctor 1
says_of "control group: processes" "1 more may be started, by $root/sys/fs/cgroup/pids.max"
says "fix: echo max > $root/sys/fs/cgroup/pids.max (in a container: --pids-limit=-1)"
rm "$root/sys/fs/cgroup/pids.max"

# choose
text=$("$info" choose --bytes 16)
grep -q "on one host:  provider shm" <<<"$text" || fail "choose: $text"
grep -q "short message" <<<"$text" || fail "choose: $text"
grep -q "on two hosts:" <<<"$text" || fail "choose: $text"
grep -q "medium message" <<<"$("$info" choose --bytes 3000)" || fail "choose does not know medium messages"
grep -q "bulk message" <<<"$("$info" choose --bytes 1000000)" || fail "choose does not know bulk messages"
# For a pair and a size: what changes with the size, and where.
for bytes in 1 56; do grep -q "short message" <<<"$("$info" choose --bytes $bytes)" || fail "$bytes bytes are not short"; done
for bytes in 57 4096; do
  grep -q "medium message" <<<"$("$info" choose --bytes $bytes)" || fail "$bytes bytes are not medium"
done
grep -q "bulk message" <<<"$("$info" choose --bytes 4097)" || fail "4097 bytes are not bulk"
grep -q "medium message" <<<"$(VIADUCT_AM_MEDIUM_BYTES=16K "$info" choose --bytes 8192)" || fail "choose does not mind settings"
grep -q "VIADUCT_PROVIDER is pigeon" <<<"$(VIADUCT_PROVIDER=pigeon "$info" choose)" || fail "choose takes any provider"
grep -q "on two hosts: not at all: VIADUCT_PROVIDER forces shm" <<<"$(VIADUCT_PROVIDER=shm "$info" choose)" ||
  fail "choose does not know what shm cannot"
text=$("$run" -n 2 "$info" choose --from 1 --to 1)
grep -q "a rank talks to itself" <<<"$text" || fail "choose for one rank: $text"
text=$("$run" -n 3 "$info" choose --from 2 --to 1 --bytes 8)
[ "$(grep -c "from rank 2 to rank 1" <<<"$text")" = 1 ] || fail "choose in a job: $text"
"$run" -n 2 --quiet "$info" choose --to 5 >/dev/null 2>&1 && fail "choose knows a rank that there is not"
text=$("$run" --hosts a,b --remote-command '/usr/bin/env VIADUCT_HOST_KEY={host} /bin/sh -c {command}' \
  "$info" choose --from 0 --to 1 --bytes 8)
grep -q "the two are on different hosts" <<<"$text" || fail "choose across hosts: $text"

# Generations of AMVIA: all messages between ranks are those of a MAP.
says_of_map() { # GENERATION BYTES TEXT
  text=$("$run" -n 2 env VIADUCT_AM_GENERATION="$1" "$info" choose --from 0 --to 1 --bytes "$2")
  grep -qF -- "a MAP of $1 over VIs of this provider" <<<"$text" || fail "choose does not know $1: $text"
  grep -qF -- "$3" <<<"$text" || fail "choose --bytes $2 with $1 lacks '$3': $text"
  ! grep -q "cache line" <<<"$text" || fail "choose --bytes $2 with $1 tells of channels: $text"
}
says_of_map v2 8 "one RDMA write with an immediate value into the peer's ring"
says_of_map v1 8 "one send by the VI of short messages"
says_of_map v3 100 "the data by an RDMA write into the peer's half, then the slot by one send by the VI of the MAP"
says_of_map v1 4000 "one send by the VI of the size that holds both"
says_of_map v3 100000 "the data by RDMA into the receiver's memory"
says_of_map v1-strict 100000 "by sends of at most 16384 bytes"
grep -q "on two hosts: not at all: VIADUCT_AM_GENERATION=v3 uses VIs of provider shm" \
  <<<"$(VIADUCT_AM_GENERATION=v3 "$info" choose)" || fail "choose does not know where a MAP over shm ends"

# the report
report=$("$info")
for part in "Providers of this build:" "shm " ; do says "$part"; done
# Without libibverbs all else is as it was.
echo "this is no library" >"$place/libibverbs.so.1"
report=$(LD_LIBRARY_PATH=$place "$info")
if grep -q "  verbs  *InfiniBand" <<<"$report" && ! grep -q "this build is without provider verbs" <<<"$report"; then
  says "provider verbs needs libibverbs, which cannot be loaded"
  says "Debian: libibverbs1 and ibverbs-providers"
  report=$(LD_LIBRARY_PATH=$place "$info" choose)
  says "on one host:  provider shm"
  says "on two hosts: not at all: the two are on different hosts: verbs is needed, and provider verbs needs libibverbs"
  doctor 0 env LD_LIBRARY_PATH="$place"
  code=0
  report=$(LD_LIBRARY_PATH=$place VIADUCT_PROVIDER=verbs "$info" 2>&1) || code=$?
  [ $code = 1 ] || fail "status $code with provider verbs, and without its library: $report"
  says "viaduct-info: provider verbs needs libibverbs"
fi
exit 0
