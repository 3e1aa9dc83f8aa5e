#!/usr/bin/env bash
# check_headers_selftest.sh CHECK COMPILER: a header that leans on another, one without a guard and one with a warning
# must each be refused by name; a good one must pass.
set -euo pipefail
check=$1
compiler=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
printf '#pragma once\n#include <vector>\ninline std::vector<int> good() { return {}; }\n' >"$tree/good.hpp"
printf '#pragma once\ninline std::vector<int> leans() { return {}; }\n' >"$tree/leans.hpp"
printf 'struct Twice {};\n' >"$tree/unguarded.hpp"
printf '#pragma once\ninline char narrow(int value) { return value; }\n' >"$tree/warns.hpp"

"$check" "$compiler" "$tree" good.hpp || exit $?
for bad in leans unguarded warns; do
  status=0
  output=$("$check" "$compiler" "$tree" good.hpp "$bad.hpp") || status=$?
  [ "$status" -eq 1 ] || { echo "$bad.hpp is not refused (status $status)"; exit 1; }
  grep -q "^$bad.hpp does not compile alone" <<<"$output" || { echo "$bad.hpp is not named: $output"; exit 1; }
  ! grep -q "^good.hpp" <<<"$output" || { echo "good.hpp is refused: $output"; exit 1; }
done
