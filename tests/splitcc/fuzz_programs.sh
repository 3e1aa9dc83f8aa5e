#!/bin/sh
# fuzz_programs.sh SPLITCC PYTHON FIRST LAST FOLDER: random programs in Split-C (generate.py), one for each seed: splitcc
# takes them, gcc takes the C, and in one process they print what the same programs in plain C print.
here=$(dirname "$0") splitcc=$1 python=$2 seed=$3 last=$4 folder=$5
rm -rf "$folder" && mkdir -p "$folder" || exit 1
while [ "$seed" -le "$last" ]; do
  "$python" "$here/generate.py" "$seed" "$folder" || exit 1
  "$splitcc" -w -O1 "$folder/split.sc" -o "$folder/split" &&
    gcc -std=gnu89 -fwrapv -fno-strict-aliasing -w -O1 "$folder/plain.c" -o "$folder/plain" &&
    "$folder/plain" >"$folder/want" && "$folder/split" >"$folder/got" && diff "$folder/want" "$folder/got" || {
    echo "fuzz_programs.sh: seed $seed fails; its program is in $folder" >&2
    exit 1
  }
  seed=$((seed + 1))
done
echo "programs up to seed $last agree"
