#!/bin/sh
# debug.sh gdb|valgrind SPLITCC FOLDER: the debugger stops at a line of the Split-C source and prints a local variable;
# valgrind's report names such lines.
tool=$1 splitcc=$2 folder=$3
command -v "$tool" >/dev/null || {
  echo "debug.sh: there is no $tool here" >&2
  exit 77
}
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
cat >mistake.sc <<'END'
#include <stdlib.h>
#include <split-c/split-c.h>
int numbers[4]::;
splitc_main()
{
    int *block = malloc(8 * sizeof(int)), eleven = 11;
    numbers[0] = eleven;
    block[9] = numbers[0];      /* beyond its end */
    free(block);
}
END
"$splitcc" -g -O0 mistake.sc -o mistake || exit 1
export VIADUCT_SPREAD_BYTES=64M VIADUCT_HEAP_BYTES=64M VIADUCT_HEAP=private VIADUCT_SEGMENT_BASE=1024G
if [ "$tool" = gdb ]; then
  said=$(gdb -nx -q --batch -ex 'break mistake.sc:8' -ex run -ex 'print eleven' -ex 'info line' ./mistake 2>&1)
  case $said in *'ptrace: Operation not permitted'*)
    echo "debug.sh: processes may not be debugged here" >&2
    exit 77
    ;;
  esac
  set -- 'Breakpoint 1, splitc_main .* at .*mistake.sc:8' '= 11' 'Line 8 of ".*mistake.sc"'
else
  said=$(valgrind -q --soname-synonyms=somalloc=*mimalloc* ./mistake 2>&1)
  set -- 'Invalid write of size 4' 'splitc_main \(mistake.sc:8\)' 'splitc_main \(mistake.sc:6\)'
fi
printf '%s\n' "$said"
for expected; do
  printf '%s\n' "$said" | grep -Eq -- "$expected" || {
    echo "debug.sh: nothing that matches $expected" >&2
    exit 1
  }
done
