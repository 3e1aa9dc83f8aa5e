#!/usr/bin/env bash
# check_language.sh COMPILER INCLUDE_DIRECTORIES HEADER...
# With C++17 each HEADER gives one #error, which names the remedy; then a file that is not there ends the compilation.
# INCLUDE_DIRECTORIES are separated by colons. Exit status 77 when there is no such compiler.
set -euo pipefail
compiler=$1
directories=$2
shift 2
command -v "$compiler" >/dev/null || { echo "skipped: there is no $compiler here"; exit 77; }
[ $# -gt 0 ] || { echo "no header to check"; exit 2; }
options=(-fsyntax-only -x c++ -)
IFS=: read -ra list <<<"$directories"
for directory in "${list[@]}"; do options=(-I "$directory" "${options[@]}"); done
program='int main() { viaduct::Job job; return static_cast<int>(job.size()); }'

for header; do
  if said=$(printf '#include <%s>\n%s\n' "$header" "$program" | "$compiler" -std=c++17 "${options[@]}" 2>&1); then
    echo "$header compiles with C++17: nothing tells the user what is wrong"
    exit 1
  fi
  wrong=$(grep -cE ':[0-9]+: error: ' <<<"$said" || true)
  remedies=$(grep -cE 'error: .*compile with -std=c\+\+20' <<<"$said" || true)
  if [ "$wrong" -ne 1 ] || [ "$remedies" -ne 1 ]; then
    printf '%s: %s errors and %s remedies instead of one of each:\n%s\n' "$header" "$wrong" "$remedies" "$said"
    exit 1
  fi
done
echo "$# headers ask for C++20"
