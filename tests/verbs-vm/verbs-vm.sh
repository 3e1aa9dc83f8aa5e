#!/usr/bin/env bash
# Runs a command in a throw-away virtual machine that has RDMA devices: see usage().
set -euo pipefail

usage() {
  cat <<'TXT'
usage: verbs-vm.sh [-2] [-t SECONDS] COMMAND [ARGUMENT...]

Boots the installed Debian kernel (linux-image-amd64) in QEMU, with KVM where that works, else emulated. The guest's root
is this machine's, read-only underneath (9p), with changes in memory on top; COMMAND runs there as root, in the current
directory, over Soft-RoCE devices. The exit status is COMMAND's.

  -2          two guests joined by a wire; COMMAND runs in both. The status is that of the first guest that failed.
  -t SECONDS  time limit (300). Status 124 when it is over.

COMMAND finds in its environment:
  VM_NODE              0, or 0 and 1
  VM_DEVICES           "rxe0 rxe1": two devices joined by a pair of virtual Ethernet devices; with -2 "rxe0"
  VM_INTERFACES        their network devices
  VM_ADDRESSES         their IP addresses
  VM_PEER              with -2: the other guest's IP address
  VM_SHARED            a directory that this machine, and both guests, read and write

Status 77 (skipped) where QEMU, the kernel or a tool is missing, with a line that says which; an error if VERBS_VM_REQUIRED
or RXE_REQUIRED is set.

Variables: VERBS_VM_SHARED (that directory; a temporary one otherwise), VERBS_VM_MEMORY (2G), VERBS_VM_CPUS (4),
VERBS_VM_ACCEL (kvm or tcg), VERBS_VM_CACHE (the initial file system is kept there), VERBS_VM_KERNEL (a version),
VERBS_VM_BOOT (180: a guest in which COMMAND has not begun after so many seconds is booted again, three times at most).
TXT
}

say() { printf 'verbs-vm: %s\n' "$*" >&2; }
skip() {
  if [ -n "${VERBS_VM_REQUIRED-}${RXE_REQUIRED-}" ]; then
    say "CANNOT RUN, and is required to: $*"
    exit 1
  fi
  say "SKIPPED: $*"
  exit 77
}

guests=1 limit=300
while getopts 2t:h option; do
  case $option in
    2) guests=2 ;;
    t) limit=$OPTARG ;;
    h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { usage >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin

# What is needed, and the package that has it.
needs=(qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio modprobe:kmod rdma:iproute2 python3:python3)
missing=()
for need in "${needs[@]}"; do
  command -v "${need%:*}" >/dev/null || missing+=("${need#*:}")
done
[ -e /etc/libibverbs.d/rxe.driver ] || missing+=(ibverbs-providers)
[ ${#missing[@]} -eq 0 ] || skip "packages are missing: apt-get install --no-install-recommends ${missing[*]}"
[ "$(uname -m)" = x86_64 ] || skip "the virtual machine is for x86-64 only"

# newest_kernel: the newest installed one that has Soft-RoCE and 9p; kernels for clouds have neither.
newest_kernel() {
  local image version
  for image in $(printf '%s\n' /boot/vmlinuz-* | sort -rV); do
    version=${image#/boot/vmlinuz-}
    if [ -r "$image" ] && [ -d "/lib/modules/$version/kernel/drivers/infiniband/sw/rxe" ] &&
       [ -d "/lib/modules/$version/kernel/fs/9p" ]; then
      echo "$version"
      return
    fi
  done
}
kernel=${VERBS_VM_KERNEL:-$(newest_kernel)}
[ -n "$kernel" ] && [ -r "/boot/vmlinuz-$kernel" ] ||
  skip "no kernel ${VERBS_VM_KERNEL:-with Soft-RoCE} in /boot: apt-get install --no-install-recommends linux-image-amd64"

# The initial file system: a shell and what mounts the root. The kernel is unpacked once, since QEMU starts an ELF file
# at once, and emulation is slow at decompressing.
cache=${VERBS_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/viaduct-verbs-vm}
make_boot_files() {
  local work=$1 root=$1/root module
  mkdir -p "$root"/{bin,dev,proc,sys,lower,changes,newroot,modules}
  cp "$(command -v busybox)" "$root/bin/busybox"
  cp "$here/init" "$root/init"
  chmod 755 "$root/init"
  for module in virtio_pci 9pnet_virtio 9p overlay; do
    modprobe -S "$kernel" --show-depends "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/list"
  while IFS= read -r module; do
    cp "$module" "$root/modules/"
    basename "$module"
  done <"$work/list" >"$root/modules/order"
  (cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initramfs"
  python3 "$here/unpack_kernel.py" "/boot/vmlinuz-$kernel" "$work/kernel"
  rm -rf "$root" "$work/list"
}
# Anew when the kernel or these scripts have changed.
stamp=$(stat -c '%Y.%s' "/boot/vmlinuz-$kernel" "$here/init" "$here/verbs-vm.sh" | cksum | cut -d' ' -f1)
boot=$cache/$kernel-$stamp
if [ ! -f "$boot/initramfs" ]; then
  mkdir -p "$cache"
  find "$cache" -mindepth 1 -maxdepth 1 -mtime +1 -exec rm -rf {} + 2>/dev/null || true
  work=$(mktemp -d "$cache/.new.XXXXXX")
  make_boot_files "$work" || { rm -rf "$work"; skip "cannot make the initial file system of kernel $kernel"; }
  mv -T "$work" "$boot" 2>/dev/null || rm -rf "$work" # another run was faster
fi

# kvm_works: that /dev/kvm opens says little, a whole guest must start; `init` answers this question at once.
kvm_works() {
  [ -r /dev/kvm ] && [ -w /dev/kvm ] || return 1
  if [ ! -f "$boot/kvm" ]; then
    local answer=no console
    console=$(timeout 10 qemu-system-x86_64 -M q35 -accel kvm -cpu host -m 256M -nodefaults -display none -serial stdio \
      -monitor none -no-reboot -kernel "$boot/kernel" -initrd "$boot/initramfs" \
      -append "console=ttyS0 quiet panic=-1 no_timer_check verbs_vm_probe=1" </dev/null 2>/dev/null | tr -d '\0') || true
    if grep -q verbs-vm-works <<<"$console"; then answer=yes; fi
    echo $answer >"$boot/kvm"
  fi
  [ "$(cat "$boot/kvm")" = yes ]
}
accelerator=${VERBS_VM_ACCEL:-}
if [ -z "$accelerator" ]; then
  accelerator=tcg
  ! kvm_works || accelerator=kvm
fi
case $accelerator in
  kvm) machine=(-accel kvm -cpu host) ;;
  tcg)
    machine=(-accel "tcg,thread=multi" -cpu max)
    # Its counter is this machine's; a guest that is kept waiting while it measures that has a wrong clock ever after.
    clock=$(python3 "$here/tsc_khz.py" 2>/dev/null) && clock="tsc_early_khz=$clock"
    ;;
  *) say "VERBS_VM_ACCEL is '$accelerator': it must be kvm or tcg"; exit 2 ;;
esac

shared=${VERBS_VM_SHARED:-}
if [ -z "$shared" ]; then
  shared=$(mktemp -d)
  trap 'rm -rf "$shared"' EXIT
fi
{
  printf 'cd %q\n' "$PWD"
  printf '%q ' "$@"
  echo
} >"$shared/command"
cp "$here/guest" "$shared/guest"

# guest NODE [OPTION...]: runs one virtual machine to its end; its console is the output.
guest() {
  local node=$1
  shift
  { # It ends with this script, also where ctest is killed.
    setpriv --pdeathsig TERM timeout -k 5 "$limit" qemu-system-x86_64 -M q35 "${machine[@]}" -smp "${VERBS_VM_CPUS:-4}" \
      -m "${VERBS_VM_MEMORY:-2G}" -nodefaults -display none -serial stdio -monitor none -no-reboot \
      -kernel "$boot/kernel" -initrd "$boot/initramfs" \
      -append "console=ttyS0 quiet panic=-1 no_timer_check tsc=reliable ${clock:-} mitigations=off verbs_vm_node=$node verbs_vm_guests=$guests" \
      -virtfs local,path=/,mount_tag=hostroot,security_model=none,readonly=on,multidevs=remap \
      -virtfs local,path="$shared",mount_tag=shared,security_model=none,multidevs=remap "$@" </dev/null &
    echo $! >"$shared/pid.$node"
    wait $!
  } | tr -d '\r'
}
wire() { # wire NODE: the network device at one end of the wire between two guests
  local server=off
  [ "$1" != 0 ] || server=on
  echo "-netdev stream,id=wire,server=$server,addr.type=unix,addr.path=$shared/wire" \
    "-device virtio-net-pci,netdev=wire,mac=52:54:00:00:00:0$1,romfile="
}

run_guests() {
  if [ $guests -eq 1 ]; then
    guest 0 || status=$?
    return 0
  fi
  # shellcheck disable=SC2046  # options are to be split
  guest 0 $(wire 0) | sed -u 's/^/[0] /' &
  local first=$!
  for _ in $(seq 100); do
    [ ! -S "$shared/wire" ] || break
    sleep 0.1
  done
  # shellcheck disable=SC2046
  guest 1 $(wire 1) | sed -u 's/^/[1] /' || status=$?
  wait $first || status=$?
}
begun() { # has the command, in all guests?
  local node
  for node in $(seq 0 $((guests - 1))); do [ -e "$shared/begun.$node" ] || return 1; done
}
# Emulated guests hang now and then while they boot. Nothing of the command has run then.
end_if_hung() {
  local end=$((SECONDS + ${VERBS_VM_BOOT:-180}))
  while [ $SECONDS -lt $end ]; do
    sleep 0.2
    ! begun || return 0
  done
  sleep 1
  ! begun || return 0
  touch "$shared/hung"
  # shellcheck disable=SC2046  # one or two
  kill $(cat "$shared"/pid.*) 2>/dev/null || true
}

for attempt in 1 2 3; do
  rm -f "$shared"/{status,ready,begun,pid}.* "$shared"/{wire,hung}
  status=0
  end_if_hung &
  watcher=$!
  run_guests
  kill $watcher 2>/dev/null || true
  wait $watcher 2>/dev/null || true
  [ -e "$shared/hung" ] || break
  say "a guest does not come up in ${VERBS_VM_BOOT:-180} s (attempt $attempt of 3)"
done
[ ! -e "$shared/hung" ] || exit 125
if [ $status -ne 0 ]; then
  [ $status -ne 124 ] || say "the time limit of $limit s is over"
  exit $status
fi
for node in $(seq 0 $((guests - 1))); do
  result=$(cat "$shared/status.$node" 2>/dev/null || echo 125)
  [ "$result" != 125 ] || say "guest $node ended before the command did"
  [ "$result" = 0 ] || exit "$result"
done
