#!/usr/bin/env bash
# environment.sh PROGRAM: without a launcher the program is a job of one. In a parallel environment that cannot be joined,
# AM_Init does not go on alone: it answers AM_ERR_RESOURCE and names the variable that shows the environment.
set -euo pipefail
program=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
unset PMIX_NAMESPACE PMI_RANK OMPI_COMM_WORLD_SIZE SLURM_JOB_ID SLURM_PROCID SLURM_STEP_ID SLURM_NTASKS
unset VIADUCT_JOB_ID VIADUCT_RENDEZVOUS

# expect STATUS LINE VARIABLE=VALUE...: how the program ends in that environment.
expect() {
  local wanted=$1 line=$2 status=0
  shift 2
  env "$@" "$program" >"$out" 2>&1 || status=$?
  [ $status = "$wanted" ] && grep -qx "$line" "$out" && return
  echo "status $status, not $wanted with '$line', where the environment has: $*"
  cat "$out"
  exit 1
}
# A batch shell of Slurm starts one process, whatever the size of the allocation.
expect 0 "a job of one"
expect 0 "a job of one" SLURM_PROCID=0
expect 0 "a job of one" SLURM_JOB_ID=7 SLURM_NTASKS=4 SLURM_PROCID=0
expect 0 "a job of one" OMPI_COMM_WORLD_SIZE=1
# The name of another process that was started by itself is no name here.
name=$(sed -n 's/^name //p' "$out")
# shellcheck disable=SC2086 # two words
"$program" $name >"$out" || { echo "the name $name of another process is taken for one's own"; cat "$out"; exit 1; }

# cannot_join VARIABLE=VALUE [VARIABLE=VALUE]...: the first one is named.
cannot_join() {
  expect 3 AM_ERR_RESOURCE "$@"
  grep -q "AM_Init: .*${1%%=*}" "$out" || { echo "${1%%=*} is not named"; cat "$out"; exit 1; }
}
cannot_join PMI_RANK=0
cannot_join OMPI_COMM_WORLD_SIZE=2
cannot_join SLURM_STEP_ID=0 SLURM_NTASKS=4
cannot_join PMIX_NAMESPACE=nobody
