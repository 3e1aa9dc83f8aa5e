#!/usr/bin/env bash
# splitc_refuses.sh VIADUCT_RUN BIN: the Split-C benchmarks' bad command lines end at once with 2 and a sentence, a wrong
# number of ranks with 1 and the command to type. Benchmarks that start jobs refuse to be ranks of one. A table that cannot
# be written is a failure.
set -euo pipefail
run=$1 bin=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect STATUS WORDS COMMAND...
expect() {
  local expected=$1 words=$2 message status=0
  shift 2
  message=$("$@" 2>&1 </dev/null) || status=$?
  [ "$status" -eq "$expected" ] && grep -qF -- "$words" <<<"$message" ||
    { echo "$*: exit code $status and not '$words': $message"; exit 1; }
}
for program in splitc-ops bulk splitc-gups; do
  for ranks in 1 3; do
    expect 1 "viaduct-run -n 2 --bind $program" "$run" -n "$ranks" --timeout 20 "$bin/$program"
  done
  expect 2 --rounds "$run" -n 2 --timeout 20 "$bin/$program" --rounds 0
  expect 2 "cannot write to $folder: a folder" "$run" -n 2 --timeout 20 "$bin/$program" --json "$folder"
done
expect 2 --type "$run" -n 2 --timeout 20 "$bin/splitc-ops" --type complex
expect 2 --size "$run" -n 2 --timeout 20 "$bin/bulk" --size 0

for program in apps scale; do
  expect 1 "it without viaduct-run" "$run" -n 2 --timeout 20 "$bin/$program" --rounds 1 --ranks 1
done
if [ -w /dev/full ]; then
  # shellcheck disable=SC2016  # the inner shell expands it
  expect 1 "cannot write to standard output" \
    sh -c 'exec "$@" 2>&1 >/dev/full' - "$run" -n 2 --timeout 60 "$bin/bulk" --rounds 1 --iters 1 --size 8
fi

expect 2 --ranks "$bin/apps" --ranks 0
expect 2 --rounds "$bin/apps" --rounds many
expect 2 "chess not in {" "$bin/apps" --program chess
expect 1 "$folder/gups" "$bin/apps" --program gups --examples "$folder"

# program CODE LINE...: a program that says these lines and ends with this code.
program() {
  local code=$1
  shift
  { echo '#!/bin/sh'; printf 'echo "%s"\n' "$@"; echo "exit $code"; } >"$folder/gups"
  chmod +x "$folder/gups"
}
gups=("$bin/apps" --program gups --short --rounds 1 --ranks 1 --examples "$folder")
program 3 "time 0.5 s, rate 1 updates/s, 1 process" "verified: all"
expect 1 "failed with exit code 3" "${gups[@]}"
program 0 "verified: all"
expect 1 "does not tell its time" "${gups[@]}"
program 0 "time 0.5 s, rate 1 updates/s, 1 process" "NOT verified: some"
expect 1 "does not say that its result is verified" "${gups[@]}"
