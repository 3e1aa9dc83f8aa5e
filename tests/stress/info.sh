#!/usr/bin/env bash
# info.sh VIADUCT_INFO VIADUCT_RUN: viaduct-info says what it promises, alone and as a rank.
set -euo pipefail
info=$1 run=$2
report=$("$info")
for part in "cores " "membarrier " "process_vm_readv" "huge pages" "memory kept registered" "Provider shm" "a rank by itself costs" \
  "a peer talked to costs" "a peer never talked to" "This job: 1 rank;" "VIADUCT_SHM_WINDOW"; do
  grep -qF -- "$part" <<<"$report" || { echo "the report lacks '$part'"; exit 1; }
done
settings=$(VIADUCT_YIELDS=3 "$info" --help-config)
grep -A4 "VIADUCT_YIELDS" <<<"$settings" | grep "environment" >/dev/null ||
  { echo "--help-config does not say that a value comes from the environment"; exit 1; }
grep -q -- "--help-config" <<<"$("$info" --help)" || { echo "--help does not name --help-config"; exit 1; }
"$info" --no-such-option >/dev/null 2>&1 && { echo "an unknown option is accepted"; exit 1; }
both=$("$run" -n 2 --label "$info")
grep -q "\[1\] This job: 2 ranks" <<<"$both" || { echo "it does not run as a rank"; exit 1; }
