#!/usr/bin/env bash
# check_install.sh CMAKE BUILD_DIRECTORY SOURCE_DIRECTORY COMPILER [FLAG...]
# Installs into a temporary prefix, moves it, and builds a user's programs against it (of Active Messages, Split-C, VIPL
# and AM-2): once found by CMake's find_package, once by pkg-config. Each runs on two ranks under the installed
# viaduct-run, and so do the README's own.
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
[ -f "$prefix/include/viaduct/splitc.hpp" ] || { echo "the headers of Split-C are not installed"; exit 1; }

for underneath in via/vipl am/c; do
  [ -f "$prefix/include/viaduct/$underneath/underneath.hpp" ] || { echo "$underneath/underneath.hpp is not installed"; exit 1; }
done

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
run "$work/build/splitc_consumer"
run "$work/build/checked_consumer"

# How often the code of PROGRAM calls the checks of checked mode. A static library has calls of its own.
calls_of_checks() {
  objdump -d -C --no-show-raw-insn "$1" | grep -cE '(call|jmp).*splitc::detail::check_access' || true
}
# checked PROGRAM UNCHECKED: whether it calls them more often than the same program without the mode.
checked() {
  [ "$(calls_of_checks "$1")" -gt "$(calls_of_checks "$2")" ] || { echo "$1 is not of checked mode"; exit 1; }
}
checked "$work/build/checked_consumer" "$work/build/splitc_consumer"

# run_vipl PROGRAM: alone, and on two ranks.
run_vipl() {
  [ "$("$1")" = "by way of a virtual interface" ]
  [ "$("$prefix/bin/viaduct-run" -n 2 --timeout 60 "$1" | grep -c "by way of a virtual interface")" -eq 2 ]
}
run_vipl "$work/build/vipl_consumer"

# run_am2 PROGRAM: alone, and on two ranks.
run_am2() {
  [ "$("$1")" = "0 of 1 has heard of 0" ]
  [ "$("$prefix/bin/viaduct-run" -n 2 --timeout 60 "$1" | grep -c "of 2 has heard of")" -eq 2 ]
}
run_am2 "$work/build/am2_consumer"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name viaduct.pc)")
export PKG_CONFIG_PATH
LD_LIBRARY_PATH=$(pkg-config --variable=libdir viaduct)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

# build PACKAGE SOURCE PROGRAM
build() {
  # pkg-config quotes its answer for a shell, as the prefix may hold spaces.
  # shellcheck disable=SC2086  # one package or several
  eval "options=($(pkg-config --cflags --libs $1))"
  # shellcheck disable=SC2154  # options is set by eval
  "$compiler" -std=c++20 "${flags[@]}" "$2" "${options[@]}" -o "$3"
}
build viaduct "$here/main.cpp" "$work/consumer"
run "$work/consumer"
# Folders of the program's own that are called like Viaduct's layers are not in the way.
mkdir -p "$work/own/runtime" "$work/own/am" "$work/own/via" "$work/own/splitc"
for own in runtime/job am/endpoint via/nic splitc/splitc; do echo '#error "not meant"' >"$work/own/$own.hpp"; done
CPATH=$work/own build viaduct "$here/main.cpp" "$work/consumer"
(cd "$work/own" && build viaduct "$here/main.cpp" "$work/consumer")
run "$work/consumer"
case " $(pkg-config --cflags viaduct viaduct-splitc) " in
  *" -std"*) echo "pkg-config chooses the language, which is the program's to choose"; exit 1 ;;
esac
build viaduct-splitc "$here/splitc.cpp" "$work/splitc_consumer"
run "$work/splitc_consumer"
build "viaduct-splitc viaduct-checked" "$here/splitc.cpp" "$work/checked_consumer"
run "$work/checked_consumer"
checked "$work/checked_consumer" "$work/splitc_consumer"
if [ "${#flags[@]}" -eq 0 ]; then  # the C compiler may be another one, with sanitizers of its own
  eval "options=($(pkg-config --cflags --libs viaduct-vipl))"
  cc -std=c89 -pedantic -Werror "$here/vipl.c" "${options[@]}" -o "$work/vipl_consumer"
  run_vipl "$work/vipl_consumer"
  eval "options=($(pkg-config --cflags --libs viaduct-am2))"
  cc -std=c89 -pedantic -Werror "$here/am2.c" "${options[@]}" -o "$work/am2_consumer"
  run_am2 "$work/am2_consumer"
fi
pages=$(find "$prefix/share/man/man3" -name 'Vip*.3' | wc -l)
[ "$pages" -eq 41 ] || { echo "$pages man pages of VIPL are installed instead of 41"; exit 1; }
grep -q 'VIP_NO_MATCH' "$prefix/share/man/man3/VipConnectRequest.3"
pages=$(find "$prefix/share/man/man3" -name 'AM*.3' | wc -l)
[ "$pages" -eq 322 ] || { echo "$pages man pages of AM-2 are installed instead of 322"; exit 1; }
grep -q 'AM_ERR_NOT_SENT' "$prefix/share/man/man3/AM_RequestXferAsyncM.3"
# A static object has one address in all processes.
grep -q 'Type: *EXEC' <<<"$(readelf -h "$work/splitc_consumer")" || { echo "the Split-C program is position-independent"; exit 1; }

# The programs that the README shows are complete, and do what they say.
awk -v to="$work/readme" '/^```cpp( |$)/ { n += 1; on = to n ".cpp"; next } /^```$/ { on = "" } on != "" { print > on }' \
  "$source/README.md"
programs=0
for source_file in "$work"/readme*.cpp; do
  package=viaduct
  if grep -q splitc_main "$source_file"; then package=viaduct-splitc; fi
  build "$package" "$source_file" "$work/readme"
  "$prefix/bin/viaduct-run" -n 2 --timeout 60 "$work/readme"
  programs=$((programs + 1))
done
[ "$programs" -gt 0 ] || { echo "no program was found in the README"; exit 1; }
