#!/bin/sh
# old_programs.sh SPLITCC VIADUCT_RUN FOLDER: programs as they were written and built in the 1990s are built without a
# word and end well.
splitcc=$1 run=$2 folder=$3
sources=$(dirname "$0")/old
rm -rf "$folder" && mkdir -p "$folder" || exit 1
failed=0
fail() {
  echo "old_programs.sh: $*" >&2
  failed=1
}

# program NAME RANKS OPTION_OR_FILE... [-- ARGUMENT...]: what is built says nothing, what is run ends with code 0.
program() {
  name=$1 ranks=$2
  shift 2
  words=
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    case $1 in -*) words="$words $1" ;; *) words="$words $sources/$1" ;; esac
    shift
  done
  [ $# -gt 0 ] && shift
  # shellcheck disable=SC2086 # the words are options and file names without blanks
  said=$("$splitcc" $words -o "$folder/$name" 2>&1) || fail "$name is not built"
  [ -z "$said" ] || fail "$name: splitcc says: $said"
  "$run" -n "$ranks" --timeout 20 "$folder/$name" "$@" || fail "$name ends badly"
}

for level in -O0 -O2; do
  program "inline$level" 2 $level inline_main.sc inline_other.sc inline_real.c -- argument
done
program "inline-gnu99" 1 -w -std=gnu99 inline_main.sc inline_other.sc inline_real.c -- argument

# Automatic variables begin as zero, unless they are told not to.
for level in -O0 -O2; do
  program "automatic$level" 1 $level automatic.sc automatic_part.c
done
program automatic-not 1 -O0 -fno-zero-automatics automatic.sc automatic_part.c -- not

# The machines' headers and libraries. A library of the time that exists is linked.
program machines 3 -O1 machines.sc -lsplit-c-cm5_pe -lcmmd -lm
if said=$("$run" -n 2 --timeout 20 "$folder/machines" send 2>&1); then fail "csend ends well"; fi
case $said in *"csend is of the Paragon"*bulk_store*) ;; *) fail "csend: $said" ;; esac
# split-c.h has the part of the machine that the program is compiled for.
for call in "CM5 CMMD_partition_size()" "SP1 mpc_sync(ALLGRP) + PROCS" "SP2 mpc_sync(ALLGRP) + PROCS" "PARAGON numnodes()" \
  "T3D _num_pes()"; do
  printf '#include <split-c/split-c.h>\nint csend, CMMD; long f() { return %s; }\n' "${call#* }" >"$folder/part.sc"
  case $call in PARAGON*) sed -i 's/int csend, CMMD;//' "$folder/part.sc" ;; esac
  said=$("$splitcc" "-D${call%% *}" -Wall -Wno-implicit-int -c "$folder/part.sc" -o "$folder/part.o" 2>&1)
  [ -z "$said" ] || fail "$call: $said"
done
mkdir "$folder/libraries"
echo 'int answer(void) { return 42; }' >"$folder/answer.c"
echo 'splitc_main() { return answer() != 42; }' >"$folder/asks.sc"
"$splitcc" -c "$folder/answer.c" -o "$folder/answer.o" && ar rc "$folder/libraries/libcmam.a" "$folder/answer.o"
"$splitcc" "$folder/asks.sc" -o "$folder/asks" "-L$folder/libraries" -lcmam || fail "a library that exists is left out"
if "$splitcc" "$folder/asks.sc" -o "$folder/asks" -lcmam_no 2>/dev/null; then fail "any library is taken"; fi

# Usages of the time are counted in one line, and shown on demand; a mistake of the same kind is shown.
said=$("$splitcc" "$sources/idioms.sc" -o "$folder/idioms" 2>&1) || fail "idioms is not built"
[ "$said" = "splitcc: 11 warnings about old idioms left out: 6 of pointers to blocks for pointers to elements, 2 of functions \
of the C library without a declaration, 2 of text behind #endif or #else, 1 of macros of split-c/control.h that the \
program defines too; -Wold-idioms shows them" ] || fail "idioms: $said"
"$run" -n 2 --timeout 20 "$folder/idioms" || fail "idioms ends badly"
said=$("$splitcc" -Wold-idioms -c "$sources/idioms.sc" -o "$folder/idioms.o" 2>&1)
[ "$(printf '%s\n' "$said" | grep -c ' warning: ')" -eq 11 ] || fail "-Wold-idioms: $said"
"$splitcc" -Werror -c "$sources/idioms.sc" -o "$folder/idioms.o" 2>/dev/null && fail "-Werror takes idioms"
[ -z "$("$splitcc" -w -c "$sources/idioms.sc" -o "$folder/idioms.o" 2>&1)" ] || fail "-w speaks of idioms"
printf '%s\n' '#define twice 2' '#define twice 3' 'double d[3]; int *p = d;' 'int f(void) { double *q = 0; int *r = q; return *r; }' \
  >"$folder/mistakes.sc"
said=$("$splitcc" -c "$folder/mistakes.sc" -o "$folder/mistakes.o" 2>&1)
[ "$(printf '%s\n' "$said" | grep -c ' warning: ')" -eq 3 ] || fail "mistakes: $said"
case $said in *"left out"*) fail "mistakes count as idioms: $said" ;; esac

exit $failed
