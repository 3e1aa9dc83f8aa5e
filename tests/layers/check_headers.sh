#!/usr/bin/env bash
# check_headers.sh COMPILER INCLUDE_DIRECTORIES HEADER...
# Compiles every HEADER by itself, included twice, with warnings as errors: whoever includes it first must not have to
# know what else it needs. INCLUDE_DIRECTORIES are separated by colons. Exit status 77 when there is no such compiler.
set -euo pipefail
compiler=$1
directories=$2
shift 2
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler here"; exit 77; }
[ $# -gt 0 ] || { echo "no header to check"; exit 1; }

options=(-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Werror -c)
IFS=: read -ra list <<<"$directories"
for directory in "${list[@]}"; do options=(-I "$directory" "${options[@]}"); done

# Sources are always named alike, so that ccache, where it is installed, remembers a header that has compiled.
here=$(realpath "$(dirname "$0")")
export CCACHE_BASEDIR=${here%/tests/*}
work=alone-$compiler-$(cksum <<<"$*" | cut -d ' ' -f 1)
rm -rf "$work"
mkdir "$work"
trap 'rm -rf "$work"' EXIT
check() {
  local header=$1 name
  name=$work/$(tr / _ <<<"$header")
  printf '#include "%s"\n#include "%s"\n' "$header" "$header" >"$name.cpp"
  if ! "$compiler" "${options[@]}" "$name.cpp" -o "$name.o" 2>"$name.said"; then
    echo "$header does not compile alone:"
    cat "$name.said"
    touch "$work/failed"
  fi
}

for header; do
  while [ "$(jobs -pr | wc -l)" -ge 2 ]; do wait -n || true; done
  check "$header" &
done
wait
[ ! -e "$work/failed" ] || exit 1
echo "$# headers compile alone with $compiler"
