#!/usr/bin/env bash
# coverage_test.sh ROOT: the table of coverage counts what a tree of a few lines executes, and finds a layer that is
# lower than before.
set -euo pipefail
root=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
coverage="$root/tests/scripts/coverage"

wrong() { echo "coverage_test: $*"; exit 1; }

mkdir -p "$folder/tree/runtime" "$folder/tree/via/verbs"
cd "$folder/tree"
cat > CMakePresets.json <<'END'
{"version": 6,
 "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}]}
END
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES C CXX)
enable_testing()
add_executable(program runtime/main.cpp via/verbs/other.cpp)
target_include_directories(program PRIVATE .)
add_test(NAME program COMMAND program)
END
cat > runtime/half.hpp <<'END'
inline int half(int x) {
  if (x > 100)
    return 50;
  return x / 2;
}
END
printf '#include "runtime/half.hpp"\nint main() {\n  return half(0);\n}\n' > runtime/main.cpp
printf '#include "runtime/half.hpp"\nint other() {\n  return half(7);\n}\n' > via/verbs/other.cpp

said=$("$coverage" --tree . --jobs 1 --table "$folder/table" 2>&1) || wrong "failed: $said"
# half() has four lines, of which one is not executed, and main() two; via/verbs is not executed at all.
row=$(grep '^runtime ' "$folder/table" | tr -s ' ')
[ "$row" = 'runtime 6 5 83.3 2 1 50.0' ] || wrong "counts wrong: $row"
row=$(grep '^via/verbs ' "$folder/table" | tr -s ' ')
[ "$row" = 'via/verbs 2 0 0.0 0 0 100.0' ] || wrong "counts wrong: $row"
[ "$(grep '^via ' "$folder/table" | tr -s ' ')" = 'via 0 0 100.0 0 0 100.0' ] || wrong "via has lines: $said"

"$coverage" --tables "$folder/table" "$folder/table" || wrong "finds a table lower than itself"
sed 's/^runtime .*/runtime 1000 842 84.2 2 1 50.0/' "$folder/table" > "$folder/near"
"$coverage" --tables "$folder/near" "$folder/table" || wrong "0.9 points are more than one"
sed 's/^runtime .*/runtime 1000 845 84.5 2 1 50.0/' "$folder/table" > "$folder/better"
if said=$("$coverage" --tables "$folder/better" "$folder/table"); then wrong "does not see a layer that is lower"; fi
grep -qF 'runtime: lines 83.3 %, before 84.5 %' <<<"$said" || wrong "does not name the layer: $said"
status=0
said=$("$coverage" --tree "$folder" --compare /dev/null 2>&1) || status=$?
[ "$status" -eq 2 ] && grep -qF 'holds no table' <<<"$said" || wrong "status $status: $said"
status=0
said=$("$coverage" --tree "$folder" 2>&1) || status=$?
[ "$status" -eq 2 ] && grep -qF 'is no checkout' <<<"$said" || wrong "status $status: $said"
echo "coverage_test: right"
