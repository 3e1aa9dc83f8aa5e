#!/bin/bash
# usage: run_suite.sh VERBS_VM SECONDS LIST RESULTS [OPTION]: boots once and runs the suite; results are in RESULTS.
# A test that fails is no failure here: it has a test of its own (result.sh).
vm=$1 seconds=$2 list=$3 results=$4
shift 4
rm -rf "$results"
mkdir -p "$results"
status=0
VERBS_VM_SHARED=$results "$vm" -t "$seconds" "$@" "$(dirname "$0")/suite.sh" "$list" || status=$?
case $status in
  0 | 1) exit 0 ;;
  *) exit $status ;;
esac
