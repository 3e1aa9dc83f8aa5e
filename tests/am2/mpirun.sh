#!/usr/bin/env bash
# mpirun.sh PROGRAM: the ranks that mpirun starts end their job in order. Exits with 77 where there is no mpirun.
set -euo pipefail
command -v mpirun >/dev/null || { echo "skipped: there is no mpirun here"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Not `mpirun | ...`: its own status tells whether a rank left without a word.
said=$(mpirun --oversubscribe -n 3 "$1" 2>&1) || { echo "mpirun fails: $said"; exit 1; }
[ "$(grep -c ' of 3: 0 failures$' <<<"$said")" -eq 3 ] || { echo "the ranks say: $said"; exit 1; }
