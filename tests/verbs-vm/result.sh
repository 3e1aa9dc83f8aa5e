#!/bin/bash
# usage: result.sh RESULTS NAME: how a command of the suite ended; 77 when the virtual machine could not run.
if [ ! -f "$1/$2.status" ]; then
  if [ -f "$1/status.0" ] || [ -f "$1/command" ]; then
    echo "$2 has not run: the virtual machine ended before"
    [ ! -f "$1/$2.log" ] || cat "$1/$2.log"
    exit 1
  fi
  [ -z "${RXE_REQUIRED-}${VERBS_VM_REQUIRED-}" ] || exit 1
  echo "skipped: the virtual machine could not run here"
  exit 77
fi
cat "$1/$2.log"
exit "$(cat "$1/$2.status")"
