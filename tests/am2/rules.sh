#!/usr/bin/env bash
# rules.sh RULES: the cases of the program pass, and its replies that are too long are refused with a sentence that tells the
# length and the limit.
set -euo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"$1" >"$log" 2>&1 || status=$?
cat "$log"
[ $status = 0 ]
grep -q 'a reply: 4097 bytes are too many: it has at most 4096 (AM_MaxMedium())' "$log"
grep -q 'a reply: 1048577 bytes are too many: it has at most 1048576 (AM_MaxLong())' "$log"
