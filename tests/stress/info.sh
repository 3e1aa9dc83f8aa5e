#!/usr/bin/env bash
# info.sh VIADUCT_INFO VIADUCT_RUN: viaduct-info says what it promises, alone and as a rank; the documents say the same of
# a peer's memory.
set -euo pipefail
info=$1 run=$2
report=$("$info")
for part in "cores " "membarrier " "process_vm_readv" "huge pages" "memory kept registered" "Provider shm" "a rank by itself costs" \
  "a peer talked to costs" "a peer never talked to" "This job: 1 rank;" "VIADUCT_SHM_WINDOW"; do
  grep -qF -- "$part" <<<"$report" || { echo "the report lacks '$part'"; exit 1; }
done
# The cost of a peer, in the words of the documents: 57,488.
peer_bytes() { "$info" | sed -n 's/.*a peer talked to costs *\([0-9]*\)\([0-9]\{3\}\) bytes.*/\1,\2/p'; }
documents=$(cd "$(dirname "$0")/../../docs" && pwd)
for document in performance.md shm.md decisions/004-no-shared-ring.md; do
  grep -qF -- "$(peer_bytes)" "$documents/$document" || { echo "$document does not say $(peer_bytes) of a peer"; exit 1; }
done
for slots in 64 128 256; do
  row="| $slots |"
  for medium in 8K 16K 32K 64K; do row+=" $(VIADUCT_AM_SLOTS=$slots VIADUCT_AM_MEDIUM_BYTES=$medium peer_bytes) |"; done
  grep -qxF -- "$row" <<<"$(tr -d '*' <"$documents/decisions/002-ring-sizes.md")" ||
    { echo "decisions/002-ring-sizes.md lacks '$row'"; exit 1; }
done
settings=$(VIADUCT_YIELDS=3 "$info" --help-config)
grep -A4 "VIADUCT_YIELDS" <<<"$settings" | grep "environment" >/dev/null ||
  { echo "--help-config does not say that a value comes from the environment"; exit 1; }
refused=$(VIADUCT_AM_SLOTS=7 "$info" doctor) && { echo "doctor accepts VIADUCT_AM_SLOTS=7"; exit 1; }
grep -q "PROBLEM  settings: VIADUCT_AM_SLOTS=7 is not accepted" <<<"$refused" || { echo "doctor says: $refused"; exit 1; }
refused=$(VIADUCT_PROVIDER=xx "$info" doctor) && { echo "doctor accepts VIADUCT_PROVIDER=xx"; exit 1; }
grep -q "PROBLEM  settings: VIADUCT_PROVIDER=xx" <<<"$refused" || { echo "doctor says: $refused"; exit 1; }
full=$("$info" explain 2>&1 >/dev/full) && { echo "a full disk is no failure"; exit 1; }
grep -q "cannot write to standard output: No space left on device" <<<"$full" || { echo "of a full disk: $full"; exit 1; }
if "$info" --help-config doctor >/dev/null 2>&1; then echo "--help-config is ignored before a command"; exit 1; fi
grep -q -- "--help-config" <<<"$("$info" --help)" || { echo "--help does not name --help-config"; exit 1; }
"$info" --no-such-option >/dev/null 2>&1 && { echo "an unknown option is accepted"; exit 1; }
both=$("$run" -n 2 --label "$info")
grep -q "\[1\] This job: 2 ranks" <<<"$both" || { echo "it does not run as a rank"; exit 1; }

# refuses TEXT COMMAND...: the command fails, and says TEXT.
refuses() {
  local text=$1 said
  shift
  said=$("$@" 2>&1 >/dev/null) && { echo "$* is accepted"; exit 1; }
  grep -qF -- "$text" <<<"$said" || { echo "$* says '$said', and not '$text'"; exit 1; }
}
refuses "-1 not in range 0 - 18446744073709551615" "$info" choose --bytes -1
refuses "numbers are decimal" "$info" choose --bytes 0x10
refuses "18446744073709551616 not in range" "$info" choose --bytes 18446744073709551616
grep -q "^10 bytes between" <<<"$("$info" choose --bytes 010)" || { echo "--bytes 010 is not decimal"; exit 1; }
grep -q "^0 bytes between" <<<"$("$info" choose --bytes 00)" || { echo "--bytes 00 is not 0"; exit 1; }
refuses "there is no code VIA-0101VIA" "$info" explain VIA-0101VIA
refuses "there is no rank 1" "$info" choose --to 1
refuses "there is no rank 7" "$info" choose --from 7
refuses "label was given" "$run" --label=3 -n 1 true
if [ -w /dev/full ]; then
  for program in "$info" "$run"; do
    "$program" --help >/dev/full 2>/dev/null && { echo "$program --help ends with 0 where nothing can be written"; exit 1; }
  done
  for question in doctor choose; do
    # shellcheck disable=SC2016  # the inner shell expands it
    refuses "cannot write to standard output" sh -c '"$@" >/dev/full' - "$info" "$question"
  done
fi
