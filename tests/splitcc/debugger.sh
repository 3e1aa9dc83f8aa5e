#!/bin/sh
# debugger.sh SPLITCC FOLDER: gdb stops at a line of Split-C source and shows local variables; valgrind, as the documents
# say to call it, names the line.
splitcc=$1 folder=$2
command -v gdb >/dev/null && command -v valgrind >/dev/null || { echo "gdb or valgrind is not installed"; exit 77; }
document=$(cd "$(dirname "$0")/../../docs" && pwd)/splitc-language.md
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
cat >wrong.sc <<'END'
#include <stdlib.h>
#include <split-c/split-c.h>

int table[PROCS]::[4];

splitc_main(argc, argv) char **argv;
{
    int answer = 41, *block = (int *) malloc(4 * sizeof(int));
    double half = 0.5;

    answer++;
    table[MYPROC][1] = answer;
    answer += block[4];
    return answer == 0;
}
END
"$splitcc" -g wrong.sc -o wrong || exit 1
timeout 60 gdb -q -batch -ex 'break wrong.sc:12' -ex run -ex 'print answer' -ex 'print half' -ex backtrace -ex next -ex next ./wrong >gdb.out 2>&1
for want in 'Breakpoint 1, splitc_main .*wrong.sc:12' 'table\[MYPROC\]\[1\] = answer' '^\$1 = 42' '^\$2 = 0.5' \
  '^#0  *splitc_main' '^#[0-9]* .* in main (' \
  '^13.*answer += block' '^14.*return answer'; do
  grep -q -e "$want" gdb.out || { echo "debugger.sh: gdb does not show '$want':"; cat gdb.out; exit 1; }
done
if ldd ./wrong | grep -q 'lib[at]san'; then
  echo "gdb shows what it should; a program with a sanitizer does not run under valgrind"
  exit 77
fi
sed -n '/^VIADUCT_SEGMENT_BASE=.*[\\]$/,/valgrind/p' "$document" >recipe
grep -q 'valgrind.* \./hello$' recipe || { echo "debugger.sh: the document has no recipe for valgrind"; exit 1; }
grep -qF "$(tail -n 1 recipe | sed 's!\./hello$!!')" "${document%/*}/guide.md" || { echo "debugger.sh: guide.md has another recipe"; exit 1; }
sed 's!viaduct-run -n 4!!; s!\./hello!./wrong!' recipe >recipe.sh
timeout 60 sh recipe.sh >valgrind.out 2>&1
grep -A1 'Invalid read of size 4' valgrind.out | grep -q 'splitc_main (wrong.sc:13)' || {
  echo "debugger.sh: valgrind does not name line 13:"
  cat valgrind.out
  exit 1
}
