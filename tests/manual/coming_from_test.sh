#!/usr/bin/env bash
# coming_from_test.sh FOLDER: the programs that docs/coming-from.md shows beside ours. MPI's is run, OpenSHMEM's compiled.
set -euo pipefail
folder=$1
for program in mpicc oshcc mpirun; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mpicc -Wall -Werror "$folder/mpi.c" -o mpi
oshcc -Wall -Werror "$folder/openshmem.c" -o openshmem
said=$(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 ./mpi)
[ "$(grep -c 'the sum is 3$' <<<"$said")" -eq 3 ] || { echo "MPI's program says: $said"; exit 1; }
