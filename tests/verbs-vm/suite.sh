#!/bin/bash
# usage: suite.sh LIST, in the guest: runs the commands of LIST, one line each:
#
#     NAME|SECONDS|COMMAND...
#
# The output of each goes to VM_SHARED/NAME.log, its exit status to VM_SHARED/NAME.status. A command that has not ended
# in its time has the status 124; it is run once more, since an emulated machine may be slow at a time.
list=$1
failed=0
run() { # run NAME SECONDS COMMAND
  timeout -k 10 "$2" bash -c "$3" >"$VM_SHARED/$1.log" 2>&1 </dev/null
}
while IFS='|' read -r name seconds command; do
  case $name in '' | '#'*) continue ;; esac
  start=$SECONDS
  run "$name" "$seconds" "$command"
  status=$?
  if [ $status -eq 124 ]; then
    mv "$VM_SHARED/$name.log" "$VM_SHARED/$name.first.log"
    run "$name" "$seconds" "$command"
    status=$?
  fi
  echo $status >"$VM_SHARED/$name.status"
  [ $status -eq 0 ] || [ $status -eq 77 ] || failed=1
  echo "verbs-vm: $name: status $status after $((SECONDS - start)) s"
done <"$list"
exit $failed
