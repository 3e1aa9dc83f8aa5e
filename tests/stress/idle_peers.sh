#!/usr/bin/env bash
# idle_peers.sh VIADUCT_RUN MEMORY: what a peer never talked to adds to a rank's resident memory, from two sizes of job.
set -euo pipefail
run=$1 program=$2 small=4 large=260 budget=256

# The same start-up lands on other pages from time to time: the least of three.
resident() {
  for _ in 1 2 3; do
    "$run" -n "$1" --timeout 50 "$program" idle | sed -n 's/.*ranks: \([0-9]*\) bytes.*/\1/p'
  done | sort -n | head -n 1
}

few=$(resident $small)
many=$(resident $large)
[ -n "$few" ] && [ -n "$many" ] || { echo "no figure was printed" >&2; exit 1; }
each=$(((many - few) / (large - small)))
echo "a rank holds $few bytes in a job of $small ranks and $many in one of $large: $each bytes for each peer never talked to (at most $budget wanted)"
# Tables begin and end within pages: two pages of rounding.
[ $((many - few)) -le $(((large - small) * budget + 8192)) ]
