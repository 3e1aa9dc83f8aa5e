#!/usr/bin/env bash
# lost.sh VIADUCT_RUN JOB: a process ends; the others learn it from handler 0, and the launcher answers its status.
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"$1" -n 3 --keep-going --timeout 50 "$2" lost >"$log" 2>&1 || status=$?
cat "$log"
[ $status = 3 ]
[ "$(grep -c ': unreachable, 0 failures' "$log")" = 2 ]
