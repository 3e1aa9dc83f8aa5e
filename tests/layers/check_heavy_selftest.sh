#!/usr/bin/env bash
# check_heavy_selftest.sh CHECK: four files that include the heavy headers pass; a fifth, of any spelling, is refused by
# name; a tree without any is an error.
set -euo pipefail
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/tools" "$tree/build"
status=0
"$check" "$tree" 2>/dev/null || status=$?
[ "$status" -eq 2 ] || { echo "an empty tree ends with status $status"; exit 1; }
for i in 1 2 3; do echo '#include <CLI/CLI.hpp>' >"$tree/tools/cli$i.cpp"; done
echo '#include <nlohmann/json.hpp>' >"$tree/tools/json.hpp"
echo '#include <CLI/CLI.hpp>' >"$tree/build/generated.cpp"
echo '// see #include <CLI/CLI.hpp>' >"$tree/tools/remark.cpp"
"$check" "$tree" || { echo "four files do not pass"; exit 1; }
for line in '#include <CLI/App.hpp>' '#  include "nlohmann/json_fwd.hpp"'; do
  echo "$line" >"$tree/tools/fifth.cpp"
  status=0
  said=$("$check" "$tree") || status=$?
  [ "$status" -eq 1 ] || { echo "a fifth file passes: $line"; exit 1; }
  grep -q 'tools/fifth.cpp' <<<"$said" || { echo "the fifth file is not named: $said"; exit 1; }
done
