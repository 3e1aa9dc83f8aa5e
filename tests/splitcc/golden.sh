#!/bin/sh
# golden.sh SPLITCC FILE.sc [--update]: what splitcc makes of the file, and says of it, is what FILE.c and FILE.txt hold;
# gcc takes the C. A comment `splitcc OPTION...' at the end of the file's first line gives options.  --update writes them
# anew, to be read before they are committed.
splitcc=$1 name=${2%.sc} update=$3
cd "$(dirname "$2")" || exit 1
name=$(basename "$name")
made=$(mktemp -d) || exit 1
trap 'rm -rf "$made"' EXIT

options=$(sed -n '1s,.*/\* splitcc \(.*\) \*/$,\1,p' "$name.sc")
# shellcheck disable=SC2086 # several options
"$splitcc" $options --emit-c "$name.sc" -o "$made/all.c" 2>"$made/said"
code=$?
if [ $code -eq 0 ]; then
  # The first lines include the runtime's header.
  sed '1,/^#include <split-c\/runtime.h>$/d' "$made/all.c" >"$made/c"
  # shellcheck disable=SC2086 # several options
  if ! "$splitcc" $options -w -O1 -c "$name.sc" -o "$made/o"; then
    echo "golden.sh: gcc does not take the C for $name.sc" >&2
    exit 1
  fi
else
  : >"$made/c"
fi
[ -s "$made/said" ] || [ -s "$made/c" ] || { echo "golden.sh: nothing was made or said" >&2; exit 1; }

failed=0
for pair in c:c said:txt; do
  got=$made/${pair%:*} want=$name.${pair#*:}
  if [ "$update" = --update ]; then
    rm -f "$want"
    [ -s "$got" ] && cp "$got" "$want"
  elif [ -e "$want" ] || [ -s "$got" ]; then
    [ -e "$want" ] || want=/dev/null
    diff -u "$want" "$got" || failed=1
  fi
done
exit $failed
