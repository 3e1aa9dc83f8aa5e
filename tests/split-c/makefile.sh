#!/bin/sh
# makefile.sh FRAGMENTS_FOLDER SPLITCC VIADUCT_RUN FOLDER: makefiles of the time, which include Make.split-c and leave the
# rest to it, build a program of two files; `make' again does nothing; `make clean' leaves the sources.
fragments=$1 splitcc=$2 run=$3 folder=$4
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
fail() {
  echo "makefile.sh: $*" >&2
  exit 1
}

mkdir -p castle/include && ln -s "$fragments" castle/include/split-c
cat >main.sc <<'END'
#include <split-c/split-c.h>
splitc_main() { return answer() != DIGITS; }
END
cat >other.sc <<'END'
answer() { return 42; }
END
cat >Makefile.short <<'END'
# Use gmake!
TIC_REGISTRY:=
TARGET := program
MPL := CMMD
CFLAGS := -O4 -DDIGITS=42
include ${CASTLE}/include/split-c/Make.split-c

END
cat >Makefile.long <<'END'
SC_TARGET	:= program
DIR_LIBSPLITC := $(CASTLE)/include/split-c
XCFLAGS = -O2 -DDIGITS=42
LIBS = -L/no/such/folder -lm
OBJS = main.o other.o
include ${DIR_LIBSPLITC}/Make.split-c

again: clean program
END
cat >Makefile.own <<'END'
CFLAGS = -DDIGITS=42
include $(CASTLE)/include/split-c/Make.split-c
all: program
program: main.o other.o
	$(CC) $(CFLAGS) -o $@ main.o other.o
END

# The place of the fragment is another machine's: the line that docs/porting-split-c.md gives.
sed 's|^include .*|include /usr/castle/include/split-c/Make.split-c|' Makefile.short >Makefile.elsewhere
PATH=$(dirname "$splitcc"):$PATH
sed "s|^include .*/Make.split-c|include $(splitcc --print-makefile)|" Makefile.elsewhere | make -f - ||
  fail "Makefile.elsewhere"
"$run" -n 2 --timeout 20 ./program || fail "the program of Makefile.elsewhere"
rm program main.o other.o

for how in short long own; do
  target=
  [ $how = own ] && target=all
  make -f Makefile.$how CASTLE="$folder/castle" SPLITCC="$splitcc" $target || fail "Makefile.$how"
  "$run" -n 2 --timeout 20 ./program || fail "the program of Makefile.$how"
  make -q -f Makefile.$how CASTLE="$folder/castle" SPLITCC="$splitcc" $target || fail "Makefile.$how makes it again"
  make -f Makefile.$how CASTLE="$folder/castle" SPLITCC="$splitcc" clean >/dev/null || fail "Makefile.$how: clean"
  if [ ! -e main.sc ] || [ -e main.o ]; then fail "Makefile.$how: what clean leaves"; fi
  rm -f program
done
