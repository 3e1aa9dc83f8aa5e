#!/usr/bin/env bash
# page_test.sh TEST ROOT: runs report_test.py where there is gnuplot.
set -euo pipefail
for program in python3 gnuplot; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program here"; exit 77; }
done
exec python3 -B "$1" "$2"
