#!/bin/sh
# usage: aligned_walk_out.sh LAUNCHER PROGRAM
# A pointer that leaves the region ends the job with a sentence.
ends() { # HOW CODE SENTENCE
  output=$(VIADUCT_SPREAD_BYTES=1M VIADUCT_HEAP_BYTES=64M "$launcher" -n 2 --timeout 100 "$program" "$1" 2>&1)
  code=$?
  printf '%s\n' "$output"
  [ "$code" -eq "$2" ] || { echo "$1: the exit code is $code, wanted $2"; exit 1; }
  printf '%s\n' "$output" | grep -Eq "$3" || { echo "$1: the sentence is missing"; exit 1; }
}
launcher=$1
program=$2
nowhere="at 0x[0-9a-f]+ of process [01], where there is no memory"
ends walk 134 "read: process [01] names memory $nowhere"
ends leap 134 "write: process [01] names memory $nowhere"
ends bulk 134 "read or get: process [01] names 8 bytes $nowhere"
ends store 134 "store: process [01] names 8 bytes $nowhere"
ends before 134 "read: process [01] names memory at 0xf[0-9a-f]+ of process 0, where there is no memory"
ends raise 139 "killed by signal 11"
