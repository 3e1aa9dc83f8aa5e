#!/usr/bin/env bash
# test_test.sh ROOT: what ./test prints and answers: phases, slowest tests, closing lines, the output of the first failure,
# a build that fails beside the tests, a run without a report. cmake and ctest are played by scripts; a file named
# "fails-PRESET" makes that build or that preset's test fail.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tools" "$folder/path"
cp "$1/test" "$folder"
cp "$1/tools/common.sh" "$1/tools/test_report.py" "$folder/tools"
: >"$folder/packages.txt"
cat >"$folder/path/cmake" <<'SH'
#!/bin/sh
while [ $# -gt 1 ] && [ "$1" != --preset ]; do shift; done
echo "cmake $2" >>calls
[ ! -e "build-fails-$2" ] || { echo 'x.cpp:1: error: no such thing'; exit 1; }
SH
cat >"$folder/path/ctest" <<'SH'
#!/bin/sh
[ "$1" != --help ] || { echo "  --stop-on-failure, --timeout"; exit; }
preset=$2
while [ "$1" != --output-junit ]; do shift; done
report=$2
echo "ctest $preset $*" >>calls
[ ! -e "no-report-$preset" ] || exit 8
status=run failed=0
[ ! -e "test-fails-$preset" ] || { status=fail failed=1; }
cat >"$report" <<XML
<testsuite tests="4"><testcase name="quick" time="0.25" status="run"><system-out>fine</system-out></testcase>
<testcase name="slow" time="7.5" status="$status"><system-out>line one
expected 1 &lt; 0 in $preset
</system-out></testcase>
<testcase name="absent" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
<testcase name="left" time="0" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase></testsuite>
XML
echo "$((100 - failed * 33))% tests passed, $failed tests failed out of 4"
exit $((failed * 8))
SH
chmod +x "$folder/path/cmake" "$folder/path/ctest"
cd "$folder"
PATH=$folder/path:$PATH

wrong() { printf 'test_test: %s\n' "$*"; exit 1; }

# testing STATUS OPTION...: sets `said`.
testing() {
  local wanted=$1 status=0
  shift
  rm -rf build calls
  said=$(./test "$@" 2>&1 </dev/null) || status=$?
  [ "$status" -eq "$wanted" ] || wrong "$*: status $status, not $wanted: $said"
}
says() { for words in "$@"; do grep -qF -- "$words" <<<"$said" || wrong "does not say '$words': $said"; done; }
silent() { for words in "$@"; do ! grep -qF -- "$words" <<<"$said" || wrong "says '$words': $said"; done; }
ends_with() { [[ $said == *"$1" ]] || wrong "does not end with '$1': $said"; }

testing 0
says 'the 4 slowest of 4 tests' '7.5 s  slow' '2 passed, 0 failed, 2 skipped' 'skipped: absent' 'skipped: left' 'build dev' 'in all'
ends_with '100% tests passed, 0 tests failed out of 4'

testing 0 --preset dev --preset=clang --preset tsan -R x
says 'build clang' 'test tsan' "building for preset 'clang' while the tests run"
[ "$(grep -c '^ctest' calls)" -eq 3 ] || wrong "not three presets: $(cat calls)"
grep -q 'ctest tsan .*-R x$' calls || wrong "the option does not reach ctest: $(cat calls)"

touch test-fails-dev
testing 1 --preset dev --preset clang
says 'failed: slow (7.5 s)' 'test clang'
ends_with $'line one\nexpected 1 < 0 in dev'
testing 1 --stop-early --preset dev --preset clang
silent 'test clang'
ends_with 'expected 1 < 0 in dev'
grep -q -- '--stop-on-failure' calls || wrong "ctest goes on: $(cat calls)"
rm test-fails-dev

touch build-fails-clang
testing 1 --preset dev --preset clang
says 'x.cpp:1: error: no such thing' "the build of preset 'clang' failed"
silent 'testing preset '"'clang'"
rm build-fails-clang

touch no-report-dev
testing 1
says 'no test ran'
rm no-report-dev

testing 2 -R
says '-R needs a value'
testing 2 --bogus
says 'ctest has no option --bogus'
testing 2 --preset nonsense
says "there is no preset 'nonsense'"
[ ! -e calls ] || wrong "builds before it refuses: $(cat calls)"
