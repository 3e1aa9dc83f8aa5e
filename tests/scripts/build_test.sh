#!/usr/bin/env bash
# build_test.sh ROOT: how building tells what went on: failures of any wording, a log that cannot be written, progress.
# cmake is played by a function. Each case runs in a shell of its own, with the scripts' settings.
set -euo pipefail
root=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

wrong() { echo "build_test: $*"; exit 1; }

# building NAME CMAKE WANTED WORDS...: build_preset with this cmake ends with status WANTED, and says WORDS.
building() {
  local name=$1 cmake=$2 wanted=$3 said status=0
  shift 3
  said=$(bash -euo pipefail -c ". '$root/tools/common.sh'; progress_seconds=0; cmake() { $cmake; }; build_preset dev" \
    run 2>&1 </dev/null) || status=$?
  [ "$status" -eq "$wanted" ] || wrong "$name: status $status: $said"
  for words in "$@"; do
    grep -qF -- "$words" <<<"$said" || wrong "$name: does not say '$words': $said"
  done
}

building good 'echo "[1/2] one"; echo "[2/2] two"' 0 'building dev [1/2]' 'building dev [2/2]' 'run: built build/dev in'
building failure 'echo "x.cpp:1: error: no"; return 1' 1 'x.cpp:1: error: no' "run: the build of preset 'dev' failed"
building killed 'echo "compiler stopped"; return 1' 1 'compiler stopped' "run: the build of preset 'dev' failed"

# Whoever runs this, nobody writes to a log that is a folder.
rm -rf build
mkdir -p build/dev/build.log
building log 'echo "cmake ran"' 1 "run: cannot write to $PWD/build/dev/build.log (does it belong to another user?)"
rm -rf build
: >build
building folder 'echo "cmake ran"' 1 "run: cannot write to $PWD/build (does it belong to another user?)"
