#!/usr/bin/env bash
# usage: am_connecting.sh LAUNCHER PROGRAM
# A first message to a rank that does not poll waits, and its rank says for what.
set -euo pipefail
words='error: a wait has lasted .* waiting for the connection of rank 1, which must poll;'
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
: >"$folder/said"
VIADUCT_HANG_REPORT=20ms "$1" -n 2 --timeout 100 "$2" 2>"$folder/said" &
launcher=$!
until grep -q "$words" "$folder/said"; do
  if ! kill -0 "$launcher" 2>/dev/null; then
    echo "ended without the words '$words':"
    cat "$folder/said"
    exit 1
  fi
  sleep 0.05
done
kill -TERM "$launcher"
wait "$launcher" || status=$?
[ "${status-0}" -eq 143 ] || { echo "status ${status-0}, wanted 143"; exit 1; }
