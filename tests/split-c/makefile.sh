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

cat >Makefile.names <<'END'
PROGRAM = program
SC_SRCS = main.sc other.sc
DEFS = -DDIGITS=42
SC_CFLAGS = -O
SC_LIBS = -lm
include $(CASTLE)/include/split-c/Make.split-c
clean:
	rm -f $(PROGRAM) *.o
END
cat >Makefile.several <<'END'
TARGETS = first second
include $(CASTLE)/include/split-c/Make.split-c
END

# The place of the fragment is another machine's: the line that docs/porting-split-c.md gives.
sed 's|^include .*|include /usr/castle/include/split-c/Make.split-c|' Makefile.short >Makefile.elsewhere
PATH=$(dirname "$splitcc"):$PATH
sed "s|^include .*/Make.split-c|include $(splitcc --print-makefile)|" Makefile.elsewhere | make -f - ||
  fail "Makefile.elsewhere"
"$run" -n 2 --timeout 20 ./program || fail "the program of Makefile.elsewhere"
rm program main.o other.o

sed 's/^clean:/realclean clean:/' Makefile.names >Makefile.both
for how in short long own names both; do
  target=
  [ $how = own ] && target=all
  make -f Makefile.$how CASTLE="$folder/castle" SPLITCC="$splitcc" $target 2>said || fail "Makefile.$how"
  [ ! -s said ] || fail "Makefile.$how: $(cat said)"
  "$run" -n 2 --timeout 20 ./program || fail "the program of Makefile.$how"
  make -q -f Makefile.$how CASTLE="$folder/castle" SPLITCC="$splitcc" $target || fail "Makefile.$how makes it again"
  make -f Makefile.$how CASTLE="$folder/castle" SPLITCC="$splitcc" clean >/dev/null || fail "Makefile.$how: clean"
  if [ ! -e main.sc ] || [ -e main.o ]; then fail "Makefile.$how: what clean leaves"; fi
  rm -f program
done

# Several programs in one folder, each of one file.
mkdir several && cd several || exit 1
echo 'splitc_main() { return 0; }' >first.sc
cp first.sc second.sc
make -f ../Makefile.several CASTLE="$folder/castle" SPLITCC="$splitcc" || fail "Makefile.several"
for name in first second; do "$run" -n 2 --timeout 20 ./$name || fail "Makefile.several: $name"; done
make -f ../Makefile.several CASTLE="$folder/castle" SPLITCC="$splitcc" clean || fail "Makefile.several: clean"
[ "$(echo *)" = "first.sc second.sc" ] || fail "Makefile.several: clean leaves $(echo *)"
