#!/usr/bin/env bash
# Proves the check: subjects pass as they are, and fail with each thing put on their path that must not be there.
#
# usage: selftest.sh COMPILER SOURCE LIMITS ALLOWED FLAG...      (77 when the compiler is not installed)
set -euo pipefail
compiler=$1 source=$2 limits=$3 allowed=$4
shift 4
here=$(dirname "$0")
export CCACHE_BASEDIR=${here%/tests/*} # clones share what ccache has compiled
command -v "$compiler" > /dev/null || { echo "SKIPPED: $compiler is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

outcome() { # outcome FLAG...: compiles with it and checks; the report is in $report
  "$compiler" "$@" -c "$source" -o "$work/subjects.o"
  report=$("$here/check.sh" "$work/subjects.o" "$compiler" "$limits" "$allowed" 2>&1)
}

expect_failure() { # expect_failure SEED SENTENCE FUNCTIONS FLAG...
  local seed=$1 sentence=$2 functions=$3 found
  shift 3
  if outcome "$@" "-DVIADUCT_CODEGEN_SEED_$seed"; then
    printf 'FAILED: the check does not see the seed %s\n%s\n' "$seed" "$report" && exit 1
  fi
  found=$(grep -c -- "$sentence" <<< "$report" || true)
  ((found >= functions)) || { printf "FAILED: with seed %s no '%s' in\n%s\n" "$seed" "$sentence" "$report" && exit 1; }
  echo "seed $seed: seen in $found places"
}

outcome "$@" || { printf 'FAILED: the subjects do not pass as they are\n%s\n' "$report" && exit 1; }
echo "$report"
functions=$(grep -c "^[^#]* $compiler " "$limits")
expect_failure CALL 'viaduct_codegen_seeded_call: not among' "$functions" "$@"
expect_failure LOCK 'a locked instruction' "$functions" "$@"
expect_failure EXCHANGE 'locks, though it does not say so' "$functions" "$@"
expect_failure FENCE 'a fence' "$functions" "$@"
expect_failure LENGTH 'instructions, more than' "$functions" "$@"

"$here/check.sh" "$work/subjects.o" no-such-compiler "$limits" "$allowed" > "$work/out" && exit 1
sed "s/^viaduct_codegen_/missing_/" "$limits" > "$work/limits"
"$here/check.sh" "$work/subjects.o" "$compiler" "$work/limits" "$allowed" > "$work/out" && exit 1
grep -q 'has 0 functions named missing_' "$work/out" || { echo 'FAILED: a missing function is not reported'; exit 1; }
awk -v OFS=' ' '/^viaduct_/ { $4 *= 1000 } { print }' "$limits" > "$work/limits"
"$here/check.sh" "$work/subjects.o" "$compiler" "$work/limits" "$allowed" > "$work/out" && exit 1
grep -q 'less than half of the' "$work/out" || { echo 'FAILED: a path that is cut short is not reported'; exit 1; }
