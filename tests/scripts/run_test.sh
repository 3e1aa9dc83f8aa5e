#!/usr/bin/env bash
# run_test.sh ROOT: ./run's command line. What is wrong ends at once, with 2 and a sentence, before anything is built; what
# is right reaches the launcher. cmake and viaduct-run are played by scripts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tools" "$folder/path" "$folder/build/release/bin"
cp "$1/run" "$folder"
cp "$1/tools/common.sh" "$folder/tools"
: >"$folder/packages.txt"
printf '#!/bin/sh\ntouch built\n' >"$folder/path/cmake"
printf '#!/bin/sh\necho "launched: $*"\n' >"$folder/build/release/bin/viaduct-run"
mkdir "$folder/docs"
touch "$folder/docs/a.md" "$folder/docs/b.md"
chmod +x "$folder/path/cmake" "$folder/build/release/bin/viaduct-run"
cd "$folder"
PATH=$folder/path:$PATH

wrong() { echo "run_test: $*"; exit 1; }

# refused WORDS OPTION...
refused() {
  local words=$1 said status=0
  shift
  said=$(./run "$@" 2>&1 </dev/null) || status=$?
  [ "$status" -eq 2 ] || wrong "$*: status $status: $said"
  grep -qF -- "$words" <<<"$said" || wrong "$*: does not say '$words': $said"
  [ ! -e built ] || wrong "$*: was built first"
}
refused 'there is no option --nonsense' --nonsense
refused 'there is no option --size' --size 8
refused 'there is no option 4' 4
refused 'there must be two ranks or more' -n 1
refused 'there must be two ranks or more' -n1
refused "-n: 'two' is no number of ranks" -n two
refused "-n: '' is no number of ranks" -n
refused '--json needs a value' --json

# launched RANKS "LOGP_OPTION..." OPTION...
launched() {
  local ranks=$1 options=$2 said
  shift 2
  said=$(./run "$@" 2>&1 </dev/null) || wrong "$*: $said"
  grep -qxF "launched: -n $ranks --bind build/release/examples/ping_pong" <<<"$said" || wrong "$*: ping-pong: $said"
  grep -qxF "launched: -n $ranks --bind build/release/bin/logp$options" <<<"$said" || wrong "$*: logp: $said"
  grep -q 'run: measuring' <<<"$said" || wrong "$*: does not say that it measures: $said"
  grep -qxF "launched: -n $ranks --bind build/release/examples/word_count docs/a.md docs/b.md" <<<"$said" ||
    wrong "$*: no Split-C program on the documents: $said"
  # The LogP table comes after it, Split-C's own figures behind that, on two ranks whatever their number.
  [[ $said == *word_count*bin/logp*"-n 2 --bind build/release/bin/splitc-ops"*"-n 2 --bind build/release/bin/bulk"* ]] ||
    wrong "$*: not in this order: $said"
}
launched 2 ''
launched 4 '' -n4
launched 3 ' --json a file --rounds=5 --parameters' --json 'a file' -n 3 --rounds=5 --parameters
