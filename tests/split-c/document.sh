#!/bin/sh
# document.sh DOCUMENT FOLDER SPLITCC VIADUCT_RUN RANKS...: compiles each of the document's examples, which begin with a
# line ```splitc, and runs those of ```splitc run with each number of ranks: they must end with code 0.
document=$1 folder=$2 splitcc=$3 run=$4
shift 4
rm -rf "$folder" && mkdir -p "$folder" || exit 1

awk -v folder="$folder" '
  /^```splitc/ { name = sprintf("%s/example_%03d%s.sc", folder, NR, $2 == "run" ? "_run" : ""); inside = 1
                 printf "#line %d \"%s\"\n", NR + 1, FILENAME > name; next }
  /^```/ && inside { inside = 0; close(name); next }
  inside { print > name }
' "$document"

compiled=0 failed=0
for source in "$folder"/example_*.sc; do
  [ -e "$source" ] || break
  program=${source%.sc}
  how=-c out=$program.o
  case $program in *_run) how="" out=$program ;; esac
  if ! "$splitcc" -O1 $how "$source" -o "$out"; then
    echo "document.sh: $source does not compile" >&2
    failed=$((failed + 1))
    continue
  fi
  compiled=$((compiled + 1))
  [ -n "$how" ] && continue
  for ranks; do
    "$run" -n "$ranks" --timeout 20 "$out" >"$program.out" || {
      echo "document.sh: $source fails with $ranks ranks" >&2
      failed=$((failed + 1))
    }
  done
done
echo "$compiled examples compiled, $failed failures"
[ "$compiled" -gt 0 ] && [ "$compiled" -eq "$(grep -c '^```splitc' "$document")" ] && [ "$failed" -eq 0 ]
