#!/bin/bash
# usage: suite.sh LIST, in the guest: runs the commands of LIST, one line each:
#
#     NAME|SECONDS|COMMAND...
#
# The output of each goes to VM_SHARED/NAME.log, its exit status to VM_SHARED/NAME.status: 124 when it has not ended in
# its time.
list=$1
# The emulated machine may get little of a core: only a hang reaches this limit of a test's own.
export TEST_PATIENCE=300
failed=0
while IFS='|' read -r name seconds command; do
  case $name in '' | '#'*) continue ;; esac
  start=$SECONDS
  timeout -k 10 "$seconds" bash -c "$command" >"$VM_SHARED/$name.log" 2>&1 </dev/null
  status=$?
  [ $status -ne 124 ] || echo "verbs-vm: $name has not ended in its $seconds s" >>"$VM_SHARED/$name.log"
  echo $status >"$VM_SHARED/$name.status"
  [ $status -eq 0 ] || [ $status -eq 77 ] || failed=1
  echo "verbs-vm: $name: status $status after $((SECONDS - start)) s"
done <"$list"
exit $failed
