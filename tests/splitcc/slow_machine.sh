#!/bin/sh
# slow_machine.sh RUN PROGRAM FOLDER: a program that is right by a slow machine's timing reads the
# old block under VIADUCT_SPLITC_PATH=message; on the direct path it may read the new one.
run=$1 program=$2 folder=$3

# wants PATH MOMENT TEXT: the program prints TEXT when process 0 reads at that moment.
wants() {
  rm -rf "$folder" && mkdir -p "$folder"
  found=$(VIADUCT_SPLITC_PATH=$1 "$run" -n 2 --timeout 55 "$program" "$folder" "$2") || exit 1
  echo "path $1, $2: $found"
  [ "$found" = "$3" ] || { echo "slow_machine.sh: expected $3" >&2; exit 1; }
}

wants message begun old
wants direct "done" new
