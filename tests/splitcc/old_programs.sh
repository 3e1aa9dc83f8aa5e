#!/bin/sh
# old_programs.sh SPLITCC VIADUCT_RUN FOLDER: programs as they were written and built in the 1990s are built without a
# word and end well.
splitcc=$1 run=$2 folder=$3
sources=$(dirname "$0")/old
rm -rf "$folder" && mkdir -p "$folder" || exit 1
# Programs of the time keep what they have allocated until their end.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
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
  program "own$level" 2 $level own_main.sc own_other.sc
done

for level in -O0 -O2; do
  program "inline$level" 2 $level inline_main.sc inline_other.sc inline_real.c -- argument
done
program "inline-gnu99" 1 -w -std=gnu99 inline_main.sc inline_other.sc inline_real.c -- argument

# Words of later standards.
for standard in gnu99 gnu11; do
  program "later-$standard" 2 -w "-std=$standard" ../programs/later.sc
done

# Options of the time's compilers and processors.
program options 1 -ansi -pedantic -traditional -msupersparc -mv8 -m486 -mcpu=rs6000 -fforce-mem -fvolatile -O4 stack.sc

# Automatic variables begin as zero, unless they are told not to.
for level in -O0 -O2; do
  program "automatic$level" 1 $level automatic.sc automatic_part.c
done
program automatic-not 1 -O0 -fno-zero-automatics automatic.sc automatic_part.c -- not

# Names that today's C library has, too; functions that are called before they are declared.
for level in -O0 -O2; do
  program "names$level" 2 $level names.sc
done

# Automatic variables have one address in all processes. Their stack is as large as ulimit -s says, and ends with a gap.
"$splitcc" -w -O1 "$sources/stack.sc" -o "$folder/stack" || fail "stack is not built"
if ldd "$folder/stack" | grep -q 'lib[at]san'; then
  echo "the stacks of programs with a sanitizer are the system's"
else
  for path in auto message rdma; do
    VIADUCT_SPLITC_PATH=$path "$run" -n 3 --timeout 20 "$folder/stack" || fail "stack, path $path, ends badly"
  done
  said=$(ulimit -s 4096 && "$run" -n 1 --timeout 20 "$folder/stack" 2000)
  [ "$said" = "its own" ] || fail "stack: 2 of 4 MB: $said"
  if (ulimit -s 4096 && "$run" -n 1 --timeout 20 "$folder/stack" 6000) >/dev/null 2>&1; then fail "stack: 6 of 4 MB"; fi
  said=$(ulimit -s 512 && VIADUCT_LOG=info "$run" -n 1 --timeout 20 "$folder/stack" 100 2>&1)
  case $said in *"info: the stack of splitc_main is the system's"*"the system's") ;; *) fail "stack: 512 kB: $said" ;; esac
fi

# A function of another file that nothing declares answers a pointer, which had the length of an int.
said=$("$splitcc" "$sources/pointer_main.sc" "$sources/pointer_other.sc" -o "$folder/pointer" 2>&1) || fail "pointer: $said"
[ "$said" = "splitcc: 3 warnings about old idioms left out: 3 of functions without a declaration that answer pointers; \
-Wold-idioms shows them" ] || fail "pointer: $said"
"$run" -n 2 --timeout 20 "$folder/pointer" || fail "pointer ends badly"
said=$("$splitcc" -Wold-idioms -c "$sources/pointer_main.sc" -o "$folder/pointer.o" 2>&1)
case $said in *"pointer_main.sc:9:"*"warning: 'second' is called without a declaration, and its result is a pointer"*) ;;
*) fail "pointer: $said" ;; esac

# A file named .c is Split-C when it has constructs of the language; else it is C of its time.
printf '%s\n' '#include <split-c/split-c.h>' '/* not *global */' 'int A[4]::;' \
  'splitc_main() { A[MYPROC % 4] = twice(21); barrier(); return A[0] != 42; }' >"$folder/language.c"
printf '%s\n' 'extern inline int half(int x) { return x / 2; }' 'int half(int x) { return x / 2; }' \
  'twice(x) { return half(4 * x); }' 'char *text(s) char *s; { return strchr(s, 0); }' >"$folder/plain.c"
said=$("$splitcc" "$folder/language.c" "$folder/plain.c" -o "$folder/language" 2>&1)
[ "$said" = "splitcc: 1 warning about old idioms left out: 1 of functions of the C library without a declaration; \
-Wold-idioms shows it" ] || fail "language: $said"
"$run" -n 4 --timeout 20 "$folder/language" || fail "language ends badly"
"$splitcc" -x c -c "$folder/language.c" -o "$folder/language.o" 2>/dev/null && fail "-x c is Split-C"

# The machines' headers and libraries. A library of the time that exists is linked.
program machines 3 -O1 machines.sc -lsplit-c-cm5_pe -lcmmd -lm
if said=$("$run" -n 2 --timeout 20 "$folder/machines" send 2>&1); then fail "csend ends well"; fi
case $said in *"csend is of the Paragon"*bulk_store*VIA-5003*) ;; *) fail "csend: $said" ;; esac
if said=$("$run" -n 2 --timeout 20 "$folder/machines" active message 2>&1); then fail "CMAM_4 ends well"; fi
case $said in *"CMAM_4 is of the CM-5"*atomic*) ;; *) fail "CMAM_4: $said" ;; esac
if said=$("$run" -n 2 --timeout 20 "$folder/machines" timer of many 2>&1); then fail "timer 64 ends well"; fi
case $said in *"timer 64 of 64"*VIA-5004*) ;; *) fail "CMMD_node_timer: $said" ;; esac
# split-c.h has the part of the machine that the program is compiled for.
for call in "CM5 CMMD_partition_size()" "SP1 mpc_sync(ALLGRP) + PROCS" "SP2 mpc_sync(ALLGRP) + PROCS" "PARAGON numnodes()" \
  "T3D _num_pes()" "MEIKO ew_gsync(0), PROCS" "CS2 ew_fgsync(0), PROCS"; do
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
[ "$said" = "splitcc: 22 warnings about old idioms left out: 6 of pointers to blocks for pointers to elements, 1 of functions \
of the C library without a declaration, 2 of text behind directives of the preprocessor, 2 of macros of headers that the \
program defines too, 1 of names of the C library for the program's own, 1 of functions of other types for qsort and the \
like, 2 of NULL as a number, 2 of declarations without a type or a name, 1 of values of functions without one, 1 of \
apostrophes in text that is left out, 1 of loops that wait for each element of another process, 2 of 'volatile void' for \
functions that do not return; -Wold-idioms shows them" ] || fail "idioms: $said"
"$run" -n 2 --timeout 20 "$folder/idioms" || fail "idioms ends badly"
said=$("$splitcc" -Wold-idioms -c "$sources/idioms.sc" -o "$folder/idioms.o" 2>&1)
[ "$(printf '%s\n' "$said" | grep -c ' warning: ')" -eq 22 ] || fail "-Wold-idioms: $said"
said=$("$splitcc" -Wremote-loop -c "$sources/idioms.sc" -o "$folder/idioms.o" 2>&1)
case $said in *"[-Wremote-loop]"*"splitcc: 21 warnings about"*) ;; *) fail "-Wremote-loop: $said" ;; esac
"$splitcc" -Werror -c "$sources/idioms.sc" -o "$folder/idioms.o" 2>/dev/null && fail "-Werror takes idioms"
[ -z "$("$splitcc" -w -c "$sources/idioms.sc" -o "$folder/idioms.o" 2>&1)" ] || fail "-w speaks of idioms"
printf '%s\n' '#define twice 2' '#define twice 3' 'double d[3]; int *p = d;' 'int f(void) { double *q = 0; int *r = q; return *r; }' \
  >"$folder/mistakes.sc"
said=$("$splitcc" -c "$folder/mistakes.sc" -o "$folder/mistakes.o" 2>&1)
[ "$(printf '%s\n' "$said" | grep -c ' warning: ')" -eq 3 ] || fail "mistakes: $said"
case $said in *"left out"*) fail "mistakes count as idioms: $said" ;; esac

exit $failed
