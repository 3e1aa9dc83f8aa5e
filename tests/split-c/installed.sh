#!/usr/bin/env bash
# installed.sh CMAKE BUILD_DIRECTORY: splitcc is installed and moved; then it compiles a program, once by itself, once by
# a makefile of the time.
set -euo pipefail
cmake=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/staged" >"$work/install.log"
prefix="$work/a place of its own"
mv "$work/staged" "$prefix"

# run PROGRAM: both ranks must say that they are done.
run() {
  local output
  output=$("$prefix/bin/viaduct-run" -n 2 --timeout 60 "$1")
  echo "$output"
  [ "$(grep -c "of 2 has its neighbour's number" <<<"$output")" -eq 2 ]
}

mkdir "$work/split-c"
cd "$work/split-c"
cat >ring.sc <<'END'
#include <stdio.h>
#include <split-c/split-c.h>
#include <split-c/cm5/host.h>
#include <cm/cmmd.h>
int number;
splitc_main()
{
    number = MYPROC;
    barrier();
    if (*toglobal((MYPROC + 1) % PROCS, &number) == (MYPROC + 1) % PROCS)
        printf("%d of %d has its neighbour's number\n", MYPROC, PROCS);
}
END
"$prefix/bin/splitcc" -O2 ring.sc -o ring
run "$work/split-c/ring"
ln -s "$prefix" castle # make's lists have no names with spaces
# shellcheck disable=SC2016  # make expands it
printf 'TARGET := psort\nCFLAGS := -O4\ninclude ${CASTLE}/include/split-c/Make.split-c\n' >Makefile
make CASTLE="$work/split-c/castle"
run "$work/split-c/psort"
