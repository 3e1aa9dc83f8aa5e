#!/usr/bin/env bash
# The program behind ./run report: see usage().
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/common.sh
. tools/common.sh
say() { printf 'report: %s\n' "$*"; }

usage() {
  cat <<'TXT'
usage: ./run report [--quick] [--compare OLD.json] [--output DIR]

Installs what is missing (also gnuplot, which draws the plots), builds in build/release, measures
this machine and writes a page to DIR/report.html: what it can do in five numbers, each beside its
own limit and the founding papers' value, then the papers' figures with this machine in them. The
page needs no network and no other file. Beside it lie the same figures as report.md, report.json
and report.csv.

  --quick             2 minutes instead of 15 at most; the figures are rough
  --compare OLD.json  report.json of an earlier run: the page marks what changed beyond the noise
  --output DIR        where to write; default build/report
  --help              this text

A machine that is busy with something else takes longer. The page says where that disturbed it.
TXT
}

refuse() { say "$*" >&2; usage >&2; exit 2; }

output=build/report
old=''
quick=()
while [ $# -gt 0 ]; do
  case "$1" in
    -h | --help) usage; exit 0 ;;
    --quick) quick=(--quick) ;;
    --compare=*) old=${1#*=}; [ -n "$old" ] || refuse '--compare needs a file' ;;
    --output=*) output=${1#*=}; [ -n "$output" ] || refuse '--output needs a folder' ;;
    --compare | --output)
      { [ $# -ge 2 ] && [ -n "$2" ]; } || refuse "$1 needs a value"
      if [ "$1" = --compare ]; then old=$2; else output=$2; fi
      shift
      ;;
    *) refuse "there is no option $1" ;;
  esac
  shift
done

[ "$(nproc)" -ge 2 ] || fail 'two processes that measure need two cores, and there is one'
ensure_packages build report
compare=()
[ -z "$old" ] || compare=(--compare "$old")
# Before minutes of building and measuring: whether OLD.json can be read, and whether DIR can be written.
python3 benchmarks/report check "$output" "${compare[@]}"

build_preset release viaduct-run $(python3 benchmarks/report programs "${quick[@]}")
version=$(git describe --always --dirty 2>/dev/null || true)
exec python3 benchmarks/report measure build/release/bin "$output" "${quick[@]}" "${compare[@]}" --version "$version"
