#!/usr/bin/env bash
# examples_test.sh CMAKE BUILD: the installed examples build with the CMakeLists.txt and with the Makefile beside them, from a
# folder of the user's, and run; the installed documents have no broken link.
set -euo pipefail
cmake=$1 build=$2
links=$(cd "$(dirname "$0")" && pwd)/links.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log"
cp -r "$work/prefix/share/doc/viaduct/examples" "$work/mine"
cd "$work/mine"
export PATH=$work/prefix/bin:$PATH PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
[ -x "$work/prefix/libexec/viaduct/logp" ] || { echo "the benchmarks are not installed"; exit 1; }
"$work/prefix/libexec/viaduct/logp" --help >/dev/null # finds its library
[ -f "$work/prefix/share/bash-completion/completions/viaduct-run" ] || { echo "no completion is installed"; exit 1; }
documents=$work/prefix/share/doc/viaduct
[ -f "$documents/docs/guide.md" ] || { echo "no documents are installed"; exit 1; }
"$links" "$documents" || { echo "installed documents have broken links"; exit 1; }
MANPATH=$work/prefix/share/man man -w splitc::all_store_sync viaduct-run >/dev/null

"$cmake" -S . -B build -DCMAKE_PREFIX_PATH="$work/prefix" >>"$work/log" 2>&1 && "$cmake" --build build -j 2 >>"$work/log" 2>&1 ||
  { tail -n 20 "$work/log"; exit 1; }
make -j 2 step2_request step7_neighbours ping_pong em3d_sc >>"$work/log" 2>&1 || { tail -n 20 "$work/log"; exit 1; }
grep -q tree.sc <<<"$(make -n all)"
for program in build/step* ./step2_request ./step7_neighbours ./em3d_sc "build/ping_pong 100"; do
  # shellcheck disable=SC2086  # a program and its argument
  viaduct-run -n 2 --timeout 60 $program >"$work/out" || { echo "$program fails"; cat "$work/out"; exit 1; }
done
