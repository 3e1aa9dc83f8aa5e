#!/usr/bin/env bash
# check_install.sh CMAKE BUILD_DIRECTORY SOURCE_DIRECTORY COMPILER [FLAG...]
# Installs into a temporary prefix, moves it, and builds a user's program against it: once found by CMake's
# find_package, once by pkg-config. Each runs on two ranks under the installed viaduct-run, and so does the README's own.
set -euo pipefail
cmake=$1
build=$2
source=$3
compiler=$4
flags=("${@:5}")
here=$source/tests/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/staged" >"$work/install.log"
prefix="$work/a place of its own"
mv "$work/staged" "$prefix"

if leaks=$(grep -rlIF -e "$source" -e "$build" "$prefix"); then
  echo "installed files name the folder they were built in: $leaks"
  exit 1
fi
headers=$(find "$prefix/include/viaduct" -name '*.hpp' | wc -l)
[ "$headers" -gt 10 ] || { echo "only $headers headers are installed"; exit 1; }

[ -f "$prefix/share/doc/viaduct/LICENSE" ] || { echo "the licence is not installed"; exit 1; }

# run PROGRAM: both ranks must say that they are done.
run() {
  local output
  output=$("$prefix/bin/viaduct-run" -n 2 --timeout 60 "$1")
  echo "$output"
  [ "$(grep -c "of 2 has its neighbour's number" <<<"$output")" -eq 2 ]
}

"$cmake" -S "$here/find_package" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="${flags[*]}" >"$work/configure.log"
"$cmake" --build "$work/build" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
run "$work/build/consumer"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name viaduct.pc)")
export PKG_CONFIG_PATH
# pkg-config quotes its answer for a shell, as the prefix may hold spaces.
eval "options=($(pkg-config --cflags --libs viaduct))"
# shellcheck disable=SC2154  # options is set by eval
"$compiler" "${flags[@]}" "$here/main.cpp" "${options[@]}" -o "$work/consumer"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir viaduct) run "$work/consumer"

# The program that the README shows is complete, and does what it says.
awk '/^```cpp$/ { on = 1; next } /^```$/ { on = 0 } on' "$source/README.md" >"$work/readme.cpp"
grep -q "int main" "$work/readme.cpp" || { echo "no program was found in the README"; exit 1; }
"$compiler" "${flags[@]}" "$work/readme.cpp" "${options[@]}" -o "$work/readme"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir viaduct) "$prefix/bin/viaduct-run" -n 2 --timeout 60 "$work/readme"
