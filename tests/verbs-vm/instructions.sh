#!/bin/bash
# usage: instructions.sh VIADUCT_RUN ONE_REQUEST, in the guest: instructions of a request, counted by callgrind.
run=$1 program=$2 requests=200
place=$(mktemp -d)
# shellcheck disable=SC2016  # the rank's own shell expands it
"$run" -n 2 --timeout 250 bash -c '
  if [ "$VIADUCT_RANK" = 0 ]; then
    exec valgrind --tool=callgrind --collect-atstart=no --callgrind-out-file="$1/profile" "$2" "$3"
  else
    exec "$2" "$3"
  fi' -- "$place" "$program" "$requests" || exit 1
python3 "$(dirname "$0")/instructions.py" "$requests" "$place"/profile*
