#!/bin/sh
# fuzz_programs.sh SPLITCC PYTHON FIRST LAST FOLDER: random programs in Split-C (generate.py), one for each seed: splitcc
# takes them, gcc takes the C, and in one process they print what the same programs in plain C print. As many at a time
# as there are cores.
here=$(dirname "$0") splitcc=$1 python=$2 first=$3 last=$4 folder=$5
workers=$(nproc)
rm -rf "$folder"

# agree SEED FOLDER: this seed, and every one that is a multiple of `workers` further on.
agree() {
  seed=$1 place=$2
  mkdir -p "$place" || exit 1
  while [ "$seed" -le "$last" ]; do
    "$python" "$here/generate.py" "$seed" "$place" || exit 1
    "$splitcc" -w -O1 "$place/split.sc" -o "$place/split" &&
      gcc -std=gnu89 -fwrapv -fno-strict-aliasing -w -O1 "$place/plain.c" -o "$place/plain" &&
      "$place/plain" >"$place/want" && "$place/split" >"$place/got" && diff "$place/want" "$place/got" || {
      echo "fuzz_programs.sh: seed $seed fails; its program is in $place" >&2
      exit 1
    }
    seed=$((seed + workers))
  done
}

pids=
worker=0
while [ "$worker" -lt "$workers" ]; do
  agree $((first + worker)) "$folder/$worker" &
  pids="$pids $!"
  worker=$((worker + 1))
done
status=0
for pid in $pids; do wait "$pid" || status=1; done
[ $status = 0 ] || exit 1
echo "programs $first to $last agree"
