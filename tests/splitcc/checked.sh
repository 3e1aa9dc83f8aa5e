#!/bin/bash
# checked.sh SPLITCC RUN FOLDER: what programs of splitcc --checked report.
splitcc=$1 run=$2 folder=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
# Programs that run here keep what they have allocated until their end.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
bad=0
fail() { echo "checked.sh: $*" >&2; bad=1; }

# run_it NAME RANKS PATH [VARIABLE=VALUE...]: runs ./NAME; its code is $code, what it says in NAME.err.
run_it() {
  local name=$1 ranks=$2 path=$3
  shift 3
  env VIADUCT_SPLITC_PATH="$path" "$@" "$run" -n "$ranks" --timeout 55 "./$name" >"$name.out" 2>"$name.err"
  code=$?
}
# The pairs of lines in a report, `FILE:LINE FILE:LINE' each, the lower one first.
pairs_of() {
  awk '/race: no barrier/ { left = 2; pair = ""; next }
       left > 0 { n = split($1, part, "/"); sub(/:$/, "", part[n]); line[left--] = part[n] }
       left == 0 && /remedy:/ { if (line[1] < line[2]) print line[1], line[2]; else print line[2], line[1] }' "$1" |
    sort
}
# The pairs that the comments `race N' of some files name.
pairs_wanted() {
  (cd "$here/checked" && grep -n 'race [0-9]' "$@" /dev/null) |
    sed -nE 's/^([a-z.]*):([0-9]+):.*race ([0-9]+).*/\3 \1:\2/p' |
    awk '{ all[$1] = all[$1] == "" ? $2 : all[$1] " " $2 }
         END { for (n in all) { k = split(all[n], l, " "); if (k == 1) l[2] = l[1]
                 if (l[1] < l[2]) print l[1], l[2]; else print l[2], l[1] } }' | sort
}
# clean NAME RANKS PATH: ends well, reports nothing and says so.
clean() {
  run_it "$1" "$2" "$3"
  if [ $code -ne 0 ] || grep -q race: "$1.err" || ! grep -q "no race seen in [0-9]* accesses of $2 process" "$1.err"; then
    cat "$1.out" "$1.err"
    fail "$1 with $2 processes, path $3: code $code, expected no report"
  fi
}

# Each race with both lines, and no other; with one process none.
for level in -O0 -O2; do
  runs="2,auto 5,direct"
  [ $level = -O0 ] && runs="3,message"
  "$splitcc" --checked -w $level "$here/checked/races.sc" "$here/checked/plain.c" -o races || exit 1
  pairs_wanted races.sc plain.c >wanted
  for how in $runs; do
    run_it races "${how%,*}" "${how#*,}"
    pairs_of races.err >found
    if [ $code -ne 0 ] || ! diff wanted found; then fail "races $level, $how: code $code"; cat races.err; fi
    grep -q "$(wc -l <wanted) pairs of lines race, in [0-9]* accesses of ${how%,*} processes" races.err || fail "no summary"
  done
done

# What a report says.
run_it races 2 auto
grep -q "accesses of counter in process 0" races.err || fail "no name of a variable"
grep -q "accesses of M\[1\] in process 1" races.err || fail "no name of a spread array"
grep -q "stores a block into it (bulk_store)" races.err || fail "no kind of access"
grep -q "remedy: all_store_sync() between" races.err || fail "no remedy for a store"
grep -q "remedy: barrier() between" races.err || fail "no remedy"

# Exit codes.
run_it races 2 auto VIADUCT_CHECKED_FATAL=yes
[ $code -eq 66 ] || fail "VIADUCT_CHECKED_FATAL: code $code, expected 66"
"$splitcc" --checked -w "$here/checked/clean.sc" -o clean || exit 1
run_it clean 2 auto VIADUCT_CHECKED_FATAL=yes
[ $code -eq 0 ] || fail "VIADUCT_CHECKED_FATAL, no race: code $code"
printf '#include <split-c/split-c.h>\nsplitc_main() { barrier(); return 7; }\n' >seven.sc
"$splitcc" --checked seven.sc -o seven || exit 1
run_it seven 2 auto
[ $code -eq 7 ] || fail "the program's own code 7 became $code"

# Programs without a race.
for how in 1,auto 2,message 4,rdma 7,direct; do clean clean "${how%,*}" "${how#*,}"; done
"$splitcc" --checked -w -O2 "$here/checked/clean.sc" -o clean && clean clean 3 auto
for source in "$root"/examples/split-c/*.sc "$root"/tests/split-c/differential/{collectives,pointers}.sc \
  "$root"/tests/split-c/programs/{constructs,image}.sc "$here/programs/blocks.sc"; do
  name=$(basename "$source" .sc)
  "$splitcc" --checked -w -O2 "$source" -o "$name" -lm || exit 1
  clean "$name" 3 auto
done
# Own programs that race on purpose: processes write one value, or a flag.
"$splitcc" --checked -w -O2 "$root/tests/split-c/programs/expressions.sc" -o expressions -lm || exit 1
run_it expressions 3 auto
grep -q "accesses of flag in process 2" expressions.err || fail "expressions: no report of the flag"
grep -q " 1 pair of lines races" expressions.err || { cat expressions.err; fail "expressions: not the flag alone"; }

# Files with and without --checked in one program: what the checked ones do is seen.
"$splitcc" --checked -w -c "$here/checked/races.sc" -o races.o && "$splitcc" -c "$here/checked/plain.c" -o plain.o &&
  "$splitcc" races.o plain.o -o mixed || exit 1
run_it mixed 2 auto
pairs_of mixed.err >found
grep -v plain.c wanted | diff - found || fail "checked and unchecked files"
# None of them checked, but linked so.
"$splitcc" -w "$here/checked/plain.c" -c && "$splitcc" -c seven.sc && "$splitcc" --checked seven.o plain.o -o none || exit 1
run_it none 2 auto
[ $code -eq 7 ] || fail "none: code $code"
printf '#include <split-c/split-c.h>\nsplitc_main() { barrier(); return 0; }\n' >seven.sc
"$splitcc" -c seven.sc && "$splitcc" --checked seven.o -o none || exit 1
run_it none 2 auto
grep -q "no access was seen: no file of the program was compiled with --checked" none.err || fail "none: no sentence"

# Memory for notes that does not reach.
cat >large.sc <<'END'
#include <split-c/split-c.h>
double large[200000];
splitc_main()
{
    int i;
    for (i = 0; i < 200000; i++) large[i] = i;
    barrier();
    if (MYPROC == 1) *toglobal(0, large) = 3;
    if (MYPROC == 0) large[0] = 4;
    return 0;
}
END
"$splitcc" --checked large.sc -o large || exit 1
run_it large 2 auto VIADUCT_CHECKED_BYTES=1M
grep -q "raise VIADUCT_CHECKED_BYTES" large.err || fail "no sentence about memory for notes"
grep -q "large.sc:8: process 1 writes it" large.err || fail "large: the next epoch begins without notes"

# The cost, for the reader.
"$splitcc" -w -O2 "$root/examples/split-c/sample_sort.sc" -o plain_sort || exit 1
seconds() { local from=$EPOCHREALTIME; "$run" -n 2 "$1" 20000 >/dev/null 2>&1; awk "BEGIN { print $EPOCHREALTIME - $from }"; }
echo "sample_sort of 20000 keys, seconds: $(seconds ./plain_sort) as it is, $(seconds ./sample_sort) checked"
exit $bad
