#!/bin/bash
# usage: run_two_hosts.sh VERBS_VM SECONDS RESULTS VIADUCT_RUN TWO_HOSTS TEST...: boots two machines once and runs these
# tests of two_hosts.sh there; results are in RESULTS. A test that fails is no failure here: it has a test of its own (result.sh).
vm=$1 seconds=$2 results=$3
shift 3
rm -rf "$results"
mkdir -p "$results"
status=0
VERBS_VM_SHARED=$results "$vm" -2 -t "$seconds" "$(dirname "$0")/two_hosts.sh" "$@" || status=$?
exit $status
