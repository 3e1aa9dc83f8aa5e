#!/bin/sh
# driver.sh SPLITCC VIADUCT_RUN FOLDER: splitcc as a compiler driver: options, stages, several files, exit codes, messages.
splitcc=$1 run=$2 folder=$3
rm -rf "$folder" && mkdir -p "$folder/parts" && cd "$folder" || exit 1
failed=0

# check NAME CODE REGEX COMMAND...: the command's exit code, and what it writes.
check() {
  name=$1 code=$2 regex=$3
  shift 3
  said=$("$@" 2>&1)
  got=$?
  if [ "$got" -ne "$code" ] || ! printf '%s\n' "$said" | grep -Eq -e "$regex"; then
    printf 'driver.sh: %s: code %s, wanted %s and "%s"; it says:\n%s\n' "$name" "$got" "$code" "$regex" "$said" >&2
    failed=$((failed + 1))
  fi
}
there() {
  [ -e "$1" ] || { echo "driver.sh: $1 has not been made" >&2; failed=$((failed + 1)); }
}

cat >main.sc <<'END'
#include <stdio.h>
#include <split-c/split-c.h>
#include <split-c/control.h>
#include "parts/shared.h"
splitc_main(argc, argv) char **argv;
{
    table[MYPROC] = twice(MYPROC) + from_c() + from_cxx();
    barrier();
    on_one printf("first line
second %d\n", table[PROCS - 1] + VALUE);
}
END
cat >parts/shared.h <<'END'
int table[PROCS]::;
END
cat >parts/other.sc <<'END'
#include <split-c/split-c.h>
#include "shared.h"
int twice(x) { return table[MYPROC] + 2 * x; }
END
echo 'int from_c(void) { return 100; }' >parts/plain.c
printf '%s\n' '#include <viaduct/splitc.hpp>' \
  'static constinit int number = 1000; extern "C" int from_cxx() { return number; }' >parts/more.C

# Several files of several languages at once, and one by one.
check together 0 '^$' "$splitcc" -O1 -DVALUE=7 main.sc parts/other.sc parts/plain.c parts/more.C -o together -lm
check result 0 '^second 1111$' "$run" -n 3 ./together
for source in main.sc parts/other.sc parts/plain.c parts/more.C; do
  check "one: $source" 0 '^$' "$splitcc" -g -O2 -D VALUE=8 -c "$source"
done
# -std of C++ is for C++ alone, and -std of C for C and Split-C.
check standards 0 '^$' "$splitcc" -DVALUE=7 -std=c++20 -std=gnu89 main.sc parts/other.sc parts/plain.c parts/more.C -o standards
check standard 1 'C\+\+20' "$splitcc" -std=c++17 -c parts/more.C -o none.o
ar rc libparts.a other.o more.o
check archive 0 '^$' "$splitcc" main.o plain.o -L. -lparts -o one_by_one
check result 0 '^second 1110$' "$run" -n 2 ./one_by_one
rm -f a.out
check a.out 0 '^$' "$splitcc" -DVALUE=1 main.sc other.o plain.o more.o
there a.out

# A line end within a string in a header.
printf 'static char *usage = "first\nsecond";\n' >parts/usage.h
printf '#include <stdio.h>\n#include "usage.h"\nsplitc_main() { printf("%%s line %%d\\n", usage, __LINE__); }\n' >parts/long.sc
check long_string 0 '^$' "$splitcc" -w parts/long.sc -o long
check long_string 0 '^second line 3$' "$run" -n 1 ./long

# Stages.
check preprocess 0 'int twice\(x\)' "$splitcc" -E parts/other.sc
check preprocess_to 0 '^$' "$splitcc" -E parts/other.sc -o other.i
there other.i
check emit 0 'vsc_read4' "$splitcc" --emit-c parts/other.sc
check assembly 0 '^$' "$splitcc" -S parts/other.sc
there other.s
check dependencies 0 '^$' "$splitcc" -MD -MF other.d -c parts/other.sc
there other.d
# Dependencies name the user's files, also those that were read as copies.
check dependencies 0 '^$' "$splitcc" -w -MMD -c parts/long.sc -o parts/made.o
check dependencies 0 '^parts/made.o: parts/long.sc parts/usage.h' cat parts/made.d
check dependencies 0 '^main.o: main.sc ' "$splitcc" -MM main.sc
check verbose 0 'gcc.* -E ' "$splitcc" -v -c parts/other.sc
check fence 0 'VSC_SEQUENTIAL' "$splitcc" -fsplitc-sc --emit-c parts/other.sc
echo "int f(int *global g) { return *g; }" >alone.sc
check stdin 0 '^$' "$splitcc" -x splitc -c - -o stdin.o <alone.sc
echo '#include "parts/usage.h"' | check stdin_includes 0 '^$' "$splitcc" -x splitc -c - -o stdin.o
echo '#include "parts/usage.h"' | check stdin_includes 0 '^$' "$splitcc" -x c++ -c - -o stdin.o
check language 0 '^$' "$splitcc" -x splitc -c parts/plain.c -o plain.o
# -x names the language also of C and C++, whatever the file is called.
cp parts/plain.c parts/plain.text && cp parts/more.C parts/more.text
check language 0 '^$' "$splitcc" -DVALUE=7 main.sc parts/other.sc -x c parts/plain.text -x c++ parts/more.text -o told
check language 0 '^second 1111$' "$run" -n 3 ./told
check language 0 '^$' "$splitcc" -x c++ - -c -o told.o <parts/more.C
there told.o
check help 0 'usage: splitcc' "$splitcc" --help
check version 0 '^splitcc .*[0-9]' "$splitcc" --version

# A program whose splitc_main is C++. C++ has __int128 among its integers by default, and types without a default constructor.
cat >values.C <<'END'
#include <viaduct/splitc.hpp>
using namespace viaduct::splitc;
struct Id {
  explicit Id(int x) : value(x) {}
  int value;
};
struct Name {
  explicit Name(int x) : parts{x, x, x} {}
  int parts[3];
};
Id twice(Id x) { return Id(2 * x.value); }
int splitc_main(int, char **) {
  const __int128 one = 1;
  if (all_reduce_add(one << 70) != one * PROCS << 70 || all_reduce_add(-one) != -PROCS) return 1;
  if (all_scan_add(one << 70) != one * (MYPROC + 1) << 70) return 2;
  const global_ptr<Id> id = toglobal(0, all_malloc<Id>(1));
  const global_ptr<Name> name = toglobal(0, all_malloc<Name>(1));
  if (MYPROC == 1) write(id, Id(7)), write(name, Name(8));
  barrier();
  Id got(0);
  wait(get(&got, id));
  return read(id).value == 7 && got.value == 7 && read(name).parts[2] == 8 && atomic<twice>(0, Id(4)).value == 8 ? 0 : 3;
}
END
check values 0 '^$' "$splitcc" values.C -o values
check result 0 '^$' "$run" -n 3 ./values

# Wrong command lines.
check nothing 2 'no input files' "$splitcc"
check missing 1 'absent.sc: no such file' "$splitcc" -c absent.sc
check unknown 2 'no option of splitcc' "$splitcc" --frobnicate main.sc
check shared 2 'put Split-C into an archive' "$splitcc" -shared -fPIC parts/plain.c
check static 2 'linked dynamically' "$splitcc" -static main.sc
check two_outputs 2 'several files' "$splitcc" -c main.sc parts/other.sc -o both.o
check value 2 'needs a value' "$splitcc" main.sc -o
# What is read is not written over.
cp main.sc kept_main.sc
for stage in -c -S -E --emit-c -DVALUE=7; do
  check over 2 'kept_main.sc would be written over ./kept_main.sc' "$splitcc" $stage ./kept_main.sc -o kept_main.sc
done
check over 2 'would be written over parts/plain.c' "$splitcc" main.sc parts/plain.c -o parts/../parts/plain.c
: >one.o
check over 2 'one.o would be written over one.o' "$splitcc" -x splitc -c one.o
cmp main.sc kept_main.sc || failed=$((failed + 1))
check folder 1 'TMPDIR is /nowhere, which is no folder: set it' env TMPDIR=/nowhere "$splitcc" -c parts/other.sc
check folder 0 '^$' env TMPDIR= "$splitcc" -c parts/other.sc -o folder.o
check standard 2 '-std=gnu33: the standards are gnu89' "$splitcc" -std=gnu33 -c parts/other.sc
check unwritable 1 'cannot write' "$splitcc" --emit-c parts/other.sc -o /nowhere/other.c

# Wrong programs: one message, at the right line, in the words of the source.
# wrong NAME LINE REGEX: the file NAME.sc
wrong() {
  check "$1" 1 "^$1\.sc:$2(:[0-9]+)?: error: $3" "$splitcc" -c "$1.sc"
  count=$("$splitcc" -c "$1.sc" 2>&1 | grep -c 'error: ')
  [ "$count" -eq 1 ] || { echo "driver.sh: $1: $count errors, wanted 1" >&2; failed=$((failed + 1)); }
}
printf 'int x;\n\nint f(int *global g) {\n    int *p = g;\n    return *p;\n}\n' >type.sc
wrong type 4 ".*'int .global' does not become 'int .'"
printf 'int f() {\n    int x\n    x = 3;\n}\n' >semicolon.sc
wrong semicolon 2 "';' is missing"
printf 'class x { };\n' >construct.sc
wrong construct 1 "'class' is no type"
printf '\n#include <split-c/nowhere.h>\nint x;\n' >header.sc
wrong header 2 'split-c/nowhere.h: No such file'
printf 'int f() {\n    return sizeof(struct nowhere);\n}\n' >incomplete.sc
wrong incomplete 2 '.*struct nowhere'
printf 'int f() {\n  int A[3]::;\n\n  A :: B;\n}\n' >colons.sc
wrong colons 4 "'::' has no place"
printf '#error here\n' >directive.sc
wrong directive 1 '#error here'
printf 'int f(){ return "abc; }\n' >quote.sc
check quote 1 '^quote.sc:1.*error: this string has no end' "$splitcc" -c quote.sc
# The preprocessor takes the apostrophe of a constant without an end for one in text that nobody reads.
printf "int f(){ return 'a; }\n" >apostrophe.sc
check apostrophe 1 '^apostrophe.sc:1.*error: this character constant has no end' "$splitcc" -c apostrophe.sc
"$splitcc" -c apostrophe.sc 2>&1 | grep 'left out' && { echo 'driver.sh: an apostrophe is left out' >&2; failed=$((failed + 1)); }
# nested OPEN CLOSE LEVELS: 'a' within so many brackets.
nested() { printf "int f(int a) { %s a %s; }\n" "$(printf "%$3s" | tr ' ' "$1")" "$(printf "%$3s" | tr ' ' "$2")"; }
nested '(' ')' 1990 >nested.sc
check nested 0 '^$' "$splitcc" -w -c nested.sc -o nested.o
nested '(' ')' 2010 >nested.sc
check too_nested 1 '^nested.sc:1:20.*error: more than 2000 levels of nesting' "$splitcc" -w -c nested.sc -o nested.o
printf 'int f(void) { return 0; }\n' >no_main.sc
check no_main 1 '^splitcc: error: a Split-C program begins with splitc_main' "$splitcc" no_main.sc -o no_main
"$splitcc" no_main.sc -o no_main 2>&1 | grep vsc_ && { echo 'driver.sh: no_main: an internal name is shown' >&2; failed=$((failed + 1)); }
# What the linker does not find is said at the lines that use it, of objects and archives too.
printf '#include <split-c/split-c.h>\nint declared(int);\nextern int object;\nint uses() {\n    barier();\n    return declared(2) + object;\n}\n' >uses.sc
printf 'int uses();\nsplitc_main() {\n    return uses() + unheard(1) + sqrt(2.0);\n}\n' >lacks.sc
"$splitcc" -c uses.sc && ar rc libuses.a uses.o && rm uses.o
for name in "5:5: error: 'barier' is used here, and nothing that is linked" "5: note: is 'barrier' meant" \
  "6:12: error: 'declared' is used here" '6: note: compile and link the file that defines it' "6:26: error: 'object' is"; do
  check undefined 1 "^uses.sc:$name" "$splitcc" -w lacks.sc -L. -luses -o lacks
done
check undefined 1 "^lacks.sc:3:21: error: 'unheard' is used here" "$splitcc" -w lacks.sc libuses.a -o lacks
check undefined 1 '^lacks.sc:3: note: it has no declaration either' "$splitcc" -w lacks.sc libuses.a -o lacks
"$splitcc" -w lacks.sc libuses.a -o lacks 2>&1 | grep -E 'undefined reference|in function|/ld: ' &&
  { echo 'driver.sh: undefined: the words of the linker are shown' >&2; failed=$((failed + 1)); }
# Nothing of that comes into a program.
printf 'int declared(int x) { return x; }\nint object;\nbarier() { }\nunheard(x) { return x; }\n' >defines.sc
check defined 0 '^$' "$splitcc" -w lacks.sc defines.sc libuses.a -lm -o lacks
grep -l splitcc-use: lacks && { echo 'driver.sh: records for the linker are in the program' >&2; failed=$((failed + 1)); }
: >empty.sc
check empty 0 '^$' "$splitcc" -c empty.sc
check warnings 1 'declared register' "$splitcc" -Werror -c -x splitc - <<'END'
int f() { register int i; int *p = &i; return *p; }
END
# A caret stands under names, not under the first of any two types that gcc speaks of.
printf 'int f(char *p) {\n    int x, y = p;\n    return g(x);\n}\n' >kept.sc
check kept 0 "^kept.sc:2: warning: .*'int' from 'char" "$splitcc" -c kept.sc

# Functions of the program's own, with the names and types of the C library's.
cat >library.sc <<'END'
#include <stdio.h>
#include <math.h>
#include <string.h>
#include <split-c/control.h>
double round(double d) { return d + 100; }
abs(x) { return x + 1000; }
int isdigit(int c) { return 77; }
int strcmp(const char *a, const char *b) { return 5; }
double pow(double a, double b) { return a + b; }
int puts(const char *s) { return printf("own %s\n", s); }
splitc_main()
{
    on_one printf("%g %d %d %d %g\n", round(1.0), abs(-3), isdigit('x'), strcmp("a", "a"), pow(2.0, 3.0));
    on_one printf("hello\n");
}
END
for level in -O0 -O2; do
  check library 0 '^$' "$splitcc" -w $level library.sc -o library
  check library 0 '^101 997 77 5 5$' "$run" -n 2 ./library
  check library 0 '^hello$' "$run" -n 2 ./library
done

# Processes that allocate differently.
cat >collective.sc <<'END'
#include <split-c/split-c.h>
splitc_main()
{
    if (MYPROC == 0) {
        int here[10]::;
        here[0] = 1;
    }
    barrier();
}
END
check build 0 '^$' "$splitcc" collective.sc -o collective
check collective 1 'collective.sc:5' sh -c '"$@" || exit 1' sh "$run" -n 2 --timeout 20 ./collective

# ccache, under the compiler's name, finds again what it has compiled; a folder that is taken is no obstacle.
if command -v ccache >/dev/null; then
  mkdir -p links cache temporary && ln -sf "$(command -v ccache)" links/gcc
  through_ccache() {
    CCACHE_DIR=$PWD/cache CCACHE_STATSLOG=$PWD/cache.log PATH=$PWD/links:$PATH TMPDIR=$PWD/temporary \
      "$splitcc" -w -c collective.sc -o cached.o
  }
  check first 0 '^$' through_ccache
  check again 0 '^$' through_ccache
  check found_again 0 direct_cache_hit cat cache.log
  mkdir temporary/splitcc-collective
  check taken 0 '^$' through_ccache
  [ "$(ls temporary)" = splitcc-collective ] || { echo 'driver.sh: a folder is left' >&2; failed=$((failed + 1)); }
fi

[ $failed -eq 0 ] && echo "driver: fine"
exit $failed
