#!/usr/bin/env bash
# run_test.sh ROOT: ./run's command line, its order and its summary. A wrong command line ends at once, with 2 and a
# sentence, before anything is built. A right one shows the first programs before the measurements are built, and ends
# with ten figures. cmake and viaduct-run are played by scripts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tools" "$folder/path" "$folder/build/release/bin"
cp "$1/run" "$folder"
cp "$1/tools/common.sh" "$1"/tools/run_*.awk "$folder/tools"
root=$1
readme=$1/README.md
recorded=$1/tests/scripts/recorded/run-tables.txt
: >"$folder/packages.txt"
cat >"$folder/path/cmake" <<'TXT'
#!/bin/sh
touch built
echo "cmake: $*" >>calls
TXT
# logp's table has a figure that meets its limit and one that does not; a later table cannot change the first.
cat >"$folder/build/release/bin/viaduct-run" <<'TXT'
#!/bin/sh
echo "launched: $*" >>calls
case "$*" in
  *ping_pong) echo "10000 round trips" ;;
  *bin/logp*)
    echo "figure min median p95 unit ratio to"
    echo "hand_over_ns 240.0 247.0 290.0 ns 1.56 158.0 elsewhere: raw ping-pong  SUSPECT"
    echo "am_short_rtt_half_ns 255.0 260.0 290.0 ns 1.06 247.0 hand_over_ns"
    echo "am_oneway_mps 9.0 10.00 12.0 M/s 0.25 40.00 ring_rate_mps"
    ;;
  *splitc-ops*) echo "am_short_rtt_half_ns 255.0 999.0 290.0 ns 9.99 100.0 hand_over_ns" ;;
  *oversubscription*) [ ! -e break ] || { echo "no more memory"; exit 3; } ;;
esac
TXT
mkdir "$folder/docs"
touch "$folder/docs/a.md" "$folder/docs/b.md"
chmod +x "$folder/path/cmake" "$folder/build/release/bin/viaduct-run"
cd "$folder"
PATH=$folder/path:$PATH

wrong() { echo "run_test: $*"; exit 1; }

# refused WORDS OPTION...
refused() {
  local words=$1 said status=0
  shift
  said=$(./run "$@" 2>&1 </dev/null) || status=$?
  [ "$status" -eq 2 ] || wrong "$*: status $status: $said"
  grep -qF -- "$words" <<<"$said" || wrong "$*: does not say '$words': $said"
  [ ! -e built ] || wrong "$*: was built first"
}
refused 'there is no option --nonsense' --nonsense
refused 'there is no option --size' --size 8
refused 'there is no option 4' 4
refused 'there must be two ranks or more' -n 1
refused 'there must be two ranks or more' -n1
refused "-n: 'two' is no number of ranks" -n two
refused "-n: '' is no number of ranks" -n
refused "-n: '65537' is no number of ranks" -n 65537
refused "--rounds: 'x' is no number from 1 on" --rounds x
refused "--iters: '0' is no number from 1 on" --iters=0
refused "--json: '' cannot be written" --json=
refused "--json: '/no/such/folder/x' cannot be written" --json /no/such/folder/x
refused "--provider: there is no provider 'bogus'" --provider bogus
refused '--json needs a value' --json

# launched RANKS "LOGP_OPTION..." OPTION...
launched() {
  local ranks=$1 options=$2 said calls
  shift 2
  rm -f calls
  said=$(./run "$@" 2>&1 </dev/null) || wrong "$*: $said"
  calls=$(<calls)
  grep -qxF "launched: -n $ranks --bind build/release/examples/ping_pong" <<<"$calls" || wrong "$*: ping-pong: $calls"
  grep -qxF "launched: -n $ranks --bind build/release/bin/logp$options" <<<"$calls" || wrong "$*: logp: $calls"
  grep -qxF "launched: -n $ranks --bind build/release/examples/word_count docs/a.md docs/b.md" <<<"$calls" ||
    wrong "$*: no Split-C program on the documents: $calls"
  # The first results are there before the measurements are built; Split-C's figures are of two ranks.
  [[ $calls == *"--target viaduct-run ping_pong word_count"*ping_pong*word_count*"--target logp splitc-ops"*bin/logp*"-n 2 --bind build/release/bin/splitc-ops"*"-n 2 --bind build/release/bin/bulk"*"--bind build/release/bin/am2"*"--bind build/release/bin/vi"* ]] ||
    wrong "$*: not in this order: $calls"
  [[ $said == *'10000 round trips'*'measuring, 1 of 8'*'measuring, 8 of 8'* ]] || wrong "$*: says too little: $said"
}
launched 2 ''
launched 4 '' -n4
launched 3 ' --json a file --rounds=5 --parameters' --json 'a file' -n 3 --rounds=5 --parameters

# narrow WHAT TEXT: no line of it has more than 100 columns.
narrow() {
  local wide
  wide=$(awk 'length($0) > 100' <<<"$2")
  [ -z "$wide" ] || wrong "$1 has a line of over 100 columns: $wide"
}

# The end: LogP, ten lines with a limit or the words that there is no figure, and where the tables are.
all=$(./run 2>&1 </dev/null)
narrow ./run "$all"
narrow './run --help' "$(./run --help)"
said=$(sed -n '/^LogP/,$p' <<<"$all")
[ "$(tail -n +2 <<<"$said" | grep -cE ' (met|MISSED|not measured)$')" -eq 10 ] || wrong "not ten lines: $said"
grep -qx 'LogP: not measured' <<<"$said" || wrong "LogP without a figure: $said"
grep -qE '^short Active Message, .* 260 ns +247 ns +1.06  at most +1.10  met$' <<<"$said" ||
  wrong "no figure that is met: $said"
grep -qE '^Active Messages .* 10.0 M/s +40.0 M/s +0.25  at least 0.50  MISSED$' <<<"$said" ||
  wrong "no missed figure: $said"
grep -qx '1 of 10 limits met.' <<<"$said" || wrong "no count: $said"
grep -q ': 1 of its own figures are suspect' <<<"$said" || wrong "no suspect figure: $said"
grep -qxF 'run: all tables are in build/release/run-tables.txt, a picture is in build/release/run.svg' <<<"$said" || wrong "does not name the files: $said"
grep -q '^am_oneway_mps' build/release/run-tables.txt || wrong "the tables are not in the file"

# The limits are those of README.md.
while read -r figure kind limit; do
  grep -qE "\`$figure\`.*\| at $kind $limit \|\$" "$readme" || wrong "README.md has no limit of $figure: at $kind $limit"
done < <(sed -nE 's/^  line\("([a-z0-9_]+)", "(most|least)", ([0-9.]+), .*/\1 \2 \3/p' tools/run_figures.awk)

# The tables of a real run: all is measured, LogP stands in one line, and the verdicts are those of its ratios.
said=$(awk -f tools/run_figures.awk -f tools/run_summary.awk "$recorded")
narrow 'the summary of a real run' "$said"
[ "$(grep -cE ' (met|MISSED)$' <<<"$said")" -eq 10 ] || wrong "not ten figures of a real run: $said"
grep -qE '^LogP: o 19.5 ns, L 114 ns, g 105 ns, G 0.362 ns a byte ' <<<"${said%%$'\n'*}" || wrong "LogP of a real run: $said"
grep -qx '8 of 10 limits met.' <<<"$said" || wrong "not the count of a real run: $said"

# The picture: a bar for each figure that was measured. README.md shows the picture of its own table.
[ "$(grep -c 'height="14"' build/release/run.svg)" -eq 2 ] || wrong "not two bars: $(<build/release/run.svg)"
awk -f tools/run_figures.awk -f tools/run_picture.awk "$recorded" >recorded.svg
[ "$(grep -c 'height="14"' recorded.svg)" -eq 10 ] || wrong "not ten bars of a real run"
awk -f tools/run_figures.awk -f tools/run_picture.awk "$readme" >readme.svg
cmp -s readme.svg "$root/docs/pictures/figures.svg" ||
  wrong "docs/pictures/figures.svg is not of README.md's table. The remedy, at the root:
  awk -f tools/run_figures.awk -f tools/run_picture.awk README.md >docs/pictures/figures.svg"

# A measurement that fails is named, with its last words and its exit code.
touch break
status=0
said=$(./run 2>&1 </dev/null) || status=$?
[ "$status" -eq 3 ] || wrong "status $status of a failed measurement: $said"
[[ $said == *'no more memory'*'this failed: build/release/bin/viaduct-run -n 16 '* ]] || wrong "fails without a word: $said"
