#!/usr/bin/env bash
# command_test.sh ROOT: ./run report from its command line to the page. A wrong command line, and an OLD.json or a folder
# that cannot be used, end at once with 2 and a sentence, before anything is built. cmake and viaduct-run are played by
# scripts; the benchmarks answer with recorded figures, and one of them fails.
set -euo pipefail
root=$1 recorded=$1/tests/report/recorded.json
for program in python3 gnuplot; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program here"; exit 77; }
done
[ "$(nproc)" -ge 2 ] || { echo "skipped: ./run report needs two cores"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tools" "$folder/path" "$folder/benchmarks" "$folder/build/release/bin"
cp "$root/run" "$folder"
cp "$root/tools/common.sh" "$root/tools/report.sh" "$folder/tools"
cp -r "$root/benchmarks/report" "$folder/benchmarks"
: >"$folder/packages.txt"
cat >"$folder/path/cmake" <<'TXT'
#!/bin/sh
echo "cmake: $*" >>calls
TXT
cat >"$folder/build/release/bin/viaduct-run" <<TXT
#!/usr/bin/env python3
import json, sys
words = sys.argv[1:]
file = words[words.index("--json") + 1]
program = words[words.index("--json") - 1].split("/")[-1]
open("calls", "a").write("launched: " + " ".join(words) + "\n")
if program == "vi":
    print("no more memory", file=sys.stderr)
    sys.exit(3)
run = json.load(open("$recorded"))["benchmarks"][program]
json.dump({"figures": run["figures"], "machine": run["machine"]}, open(file, "w"))
TXT
chmod +x "$folder/path/cmake" "$folder/build/release/bin/viaduct-run"
cd "$folder"
PATH=$folder/path:$PATH
export PYTHONDONTWRITEBYTECODE=1

wrong() { echo "command_test: $*"; exit 1; }

# refused WORDS OPTION...
refused() {
  local words=$1 said status=0
  shift
  said=$(./run report "$@" 2>&1 </dev/null) || status=$?
  [ "$status" -eq 2 ] || wrong "$*: status $status: $said"
  grep -qF -- "$words" <<<"$said" || wrong "$*: does not say '$words': $said"
  [ ! -e calls ] || wrong "$*: was built first"
}
refused 'there is no option --nonsense' --nonsense
refused 'there is no option old.json' old.json
refused '--compare needs a value' --compare
refused '--output needs a folder' --output=
refused 'cannot read none.json' --compare none.json
echo '{}' >strange.json
refused 'strange.json is no report' --quick --compare=strange.json
refused 'cannot make the folder strange.json' --output strange.json

help=$(./run report --help)
[ -z "$(awk 'length($0) > 100' <<<"$help")" ] || wrong "the help has a line of over 100 columns"
for option in --quick --compare --output; do
  grep -q -- "  $option" <<<"$help" || wrong "the help does not name $option"
done

# A quick run, compared with the recorded one.
said=$(./run report --quick --output there --compare "$recorded" 2>&1 </dev/null) || wrong "$said"
calls=$(<calls)
grep -qF -- "--target viaduct-run bulk logp splitc-ops vi" <<<"$calls" || wrong "not what is measured was built: $calls"
for program in logp splitc-ops bulk vi; do
  grep -qE -- "^launched: -n 2 --bind --timeout [0-9]+ build/release/bin/$program --json " <<<"$calls" || wrong "no $program: $calls"
done
[ "$(grep -c -- '--parameters' <<<"$calls")" -eq 5 ] || wrong "not a probe before the first benchmark and after each: $calls"
grep -q 'measuring 4 of 4: the VI layer, about ' <<<"$said" || wrong "no line of progress: $said"
grep -q 'no figures of vi: it ended with status 3: no more memory' <<<"$said" || wrong "does not name what failed: $said"
grep -qF 'the page is there/report.html' <<<"$said" || wrong "does not name the page: $said"
grep -qF 'There are no figures of vi: it ended with status 3' there/report.html || wrong "the page does not say what is missing"
grep -qF ' 0 are better and 0 are worse' there/report.html || wrong "the same run differs from itself"
for file in report.md report.csv report.json; do [ -s "there/$file" ] || wrong "there is no $file"; done

# What was written can be compared with, and made into a page again.
python3 benchmarks/report page there/report.json again --compare there/report.json >/dev/null
cmp -s there/report.csv again/report.csv || wrong "the same results give other figures"
