#!/bin/bash
# splitcc that a signal ends, wherever it is, leaves no process and no file behind, nor does one
# that runs out of something: splitcc_ended.sh SPLITCC [SANITIZER]
set -eu
splitcc=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tmp"
export TMPDIR="$folder/tmp"
mkfifo "$folder/waits.h" "$folder/output" "$folder/source.sc" "$folder/object.o"
echo '#include "waits.h"' >"$folder/program.c"
echo 'int splitc_main(int argc, char** argv) { return 0; }' >"$folder/short.c"
{
  echo '#include <split-c/split-c.h>'
  # More than a pipe holds.
  for i in $(seq 4000); do echo "int function_$i(int x) { return x + MYPROC; }"; done
  echo 'int splitc_main() { return 0; }'
} >"$folder/long.sc"

fail() { echo "$*"; exit 1; }
# Prints the processes that have this test's folder in their command lines.
left() { printf "%s" "$folder" | grep -lsaFf - /proc/[0-9]*/cmdline || true; }
nothing_left() {
  local tries=0
  while [ -n "$(left)" ]; do
    tries=$((tries + 1))
    test $tries -lt 100 || fail "$1: processes are left: $(left)"
    sleep 0.1
  done
  test -z "$(ls -A "$TMPDIR")" || fail "$1: files are left: $(ls -R "$TMPDIR")"
}
# ended NAME SIGNAL: ends $pid, which is somewhere in its work.
ended() {
  local status=0
  kill -"$2" $pid
  wait $pid || status=$?
  test $status = $((128 + $(kill -l "$2"))) || fail "$1: SIG$2 ends splitcc with status $status"
  nothing_left "$1, SIG$2"
}
# starts COMMAND...: in the background, where a shell would have it ignore SIGINT and SIGQUIT.
starts() {
  set -m
  "$@" &
  pid=$!
  set +m
}

# Waits until a file of this name is under TMPDIR.
until_there() {
  until [ -n "$(find "$TMPDIR" -name "$1" 2>/dev/null)" ]; do
    kill -0 $pid || fail "splitcc has ended early"
    sleep 0.02
  done
}

for signal in TERM INT HUP QUIT; do
  starts "$splitcc" -o "$folder/program" "$folder/program.c"
  # The write end opens when gcc has opened the header to read, which then waits for text.
  exec 3>"$folder/waits.h"
  ended "a compiler that waits" $signal
  exec 3>&-

  exec 3<>"$folder/output"
  starts "$splitcc" -E "$folder/long.sc" >&3
  head -c 1 <&3 >"$folder/first" # some text comes, and then nobody takes any
  ended "an output that nobody takes" $signal
  exec 3<&-

  starts "$splitcc" -o "$folder/program" "$folder/source.sc"
  exec 3>"$folder/source.sc"
  ended "a source that does not come" $signal
  exec 3>&-

  starts "$splitcc" -o "$folder/program" "$folder/source.sc"
  until_there "splitcc-*"
  ended "a source that nobody opens" $signal

  exec 3<>"$folder/source.sc"
  starts "$splitcc" -x splitc -o "$folder/program" - <&3
  until_there "splitcc-*"
  ended "standard input that does not come" $signal
  exec 3>&-

  starts "$splitcc" -o "$folder/program" "$folder/short.c" "$folder/object.o"
  until_there "*.res" # of gcc, which links then
  ended "a linker that waits" $signal
done

"$splitcc" -E "$folder/long.sc" 2>"$folder/errors" | head -c 1 >"$folder/first" || true
test ! -s "$folder/errors" || fail "a reader that goes away: $(cat "$folder/errors")"
nothing_left "a reader that goes away"

if [ -w /dev/full ]; then
  status=0
  "$splitcc" -E "$folder/long.sc" >/dev/full 2>"$folder/errors" || status=$?
  test $status = 1 || fail "status $status for a full device"
  grep -q "cannot write standard output: No space left" "$folder/errors" || fail "what is full is not said"
  nothing_left "a full device"
fi

# The runtimes of sanitizers need descriptors and files of their own.
[ -z "${2-}" ] || exit 0

# limited OPTION VALUE TEXT: with so little, TEXT is said. The sentence goes into a pipe, which no
# limit concerns.
limited() {
  local said
  if said=$(
    ulimit "$1" "$2"
    exec "$splitcc" -o "$folder/program" "$folder/long.sc" 2>&1
  ); then
    fail "ulimit $1 $2: status 0"
  fi
  case "$said" in
    *"$3"*) ;;
    *) fail "ulimit $1 $2: $said" ;;
  esac
  nothing_left "ulimit $1 $2"
}
for blocks in 0 1 100; do limited -f $blocks "raise it (ulimit -f)"; done
for descriptors in 4 5; do limited -n $descriptors "Too many open files"; done
