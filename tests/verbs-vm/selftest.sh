#!/bin/bash
# usage: selftest.sh VERBS_VM: exit codes come through, devices are there, two guests reach each other, a command that
# hangs is ended, and a missing kernel is a loud skip, or an error where the machine is required.
vm=$1
status=0
output= # of the last command
expect() { # expect WHAT WANTED COMMAND...
  local what=$1 wanted=$2 got=0
  shift 2
  output=$("$@" 2>&1) || got=$?
  printf '%s\n' "$output"
  if [ "$got" -ne "$wanted" ]; then
    echo "$what: exit code $got, wanted $wanted"
    [ "$got" -ne 77 ] || exit 77
    status=1
  fi
}
expect "a command that fails" 3 "$vm" -t 240 bash -c '
  for device in $VM_DEVICES; do
    grep -q ACTIVE "/sys/class/infiniband/$device/ports/1/state" || exit 4
  done
  ping -c 1 -W 5 -I 10.77.0.1 10.77.0.2 >/dev/null 2>&1 || [ ! -x /bin/ping ] || exit 5
  touch "$VM_SHARED/seen" && exit 3'
expect "two guests" 0 "$vm" -2 -t 240 bash -c '
  exec 3<>/dev/null
  ip neighbour show >/dev/null
  echo "guest $VM_NODE is $VM_ADDRESSES, the other $VM_PEER"
  if [ "$VM_NODE" = 0 ]; then
    busybox nc -l -p 7777 -w 60 | grep -q hello
  else
    for _ in $(seq 100); do echo hello | busybox nc -w 5 "$VM_PEER" 7777 2>/dev/null && exit 0; sleep 0.2; done
    exit 6
  fi'
expect "a guest that does not come up" 125 env VERBS_VM_BOOT=0 "$vm" -t 240 true
grep -q "attempt 3 of 3" <<<"$output" || { echo "it was not booted again"; status=1; }
expect "a missing kernel" 77 env -u RXE_REQUIRED -u VERBS_VM_REQUIRED VERBS_VM_KERNEL=none VERBS_VM_CACHE="$(mktemp -d)" \
  "$vm" true
expect "a missing kernel that is required" 1 env VERBS_VM_REQUIRED=1 VERBS_VM_KERNEL=none \
  VERBS_VM_CACHE="$(mktemp -d)" "$vm" true
exit $status
