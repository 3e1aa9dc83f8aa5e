#!/bin/sh
# splitcc that a signal ends leaves no process and no folder behind: splitcc_ended.sh SPLITCC
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tmp"
mkfifo "$folder/waits.h"
echo '#include "waits.h"' >"$folder/program.c"

# Prints the processes that have this test's folder in their command lines.
left() { printf "%s" "$folder" | grep -lsaFf - /proc/[0-9]*/cmdline || true; }

for signal in TERM HUP; do
  TMPDIR="$folder/tmp" "$1" -o "$folder/program" "$folder/program.c" &
  splitcc=$!
  # The write end opens when gcc has opened the header to read, which then waits for text.
  exec 3>"$folder/waits.h"
  kill -$signal $splitcc
  status=0
  wait $splitcc || status=$?
  test $status -gt 128 || { echo "SIG$signal: splitcc ended with status $status"; exit 1; }
  tries=0
  while [ -n "$(left)" ]; do
    tries=$((tries + 1))
    test $tries -lt 100 || { echo "SIG$signal: processes are left: $(left)"; exit 1; }
    sleep 0.1
  done
  exec 3>&-
  test -z "$(ls -A "$folder/tmp")" || { echo "SIG$signal: files are left"; ls -R "$folder/tmp"; exit 1; }
done
