#!/usr/bin/env bash
# Looks at the instructions of hot-path functions in an object file: no locked instruction, no fence, no call but to
# cold functions that are named, and not more instructions, stores and indirect calls than the table says.
#
# usage: check.sh [--record] OBJECT COMPILER LIMITS ALLOWED
#   LIMITS   table: function, compiler, then most and measured of instructions, stores, indirect calls, and functions
#            (1 when the compiler inlines the whole path)
#   ALLOWED  regular expressions, one a line: what may be called
#   --record prints the table's rows with the values of this object, to paste into LIMITS
set -euo pipefail
record=
[[ ${1-} == --record ]] && record=yes && shift
object=$1 compiler=$2 limits=$3 allowed=$4
here=$(dirname "$0")
failures=0

complain() {
  echo "  $*"
  failures=$((failures + 1))
}

# judge FUNCTION: what hot_path.awk says about it
judge() {
  CODEGEN_FUNCTION=$1 awk -v allowed="$allowed" -f "$here/hot_path.awk" <(
    objdump -t -C "$object"
    objdump -d -r --no-show-raw-insn -C "$object"
  )
}

# Much less than before is no gain: the compiler has moved the path to where it is not followed, among the cold code.
compare() { # compare WHAT MEASURED MOST RECORDED
  (($2 <= $3)) || complain "$2 $1, more than the $3 allowed"
  ((2 * $2 >= $4)) || complain "$2 $1, less than half of the $4 in the table: is the path among the cold code?"
  (($2 == $4)) || echo "  (the table says $4 $1; now $2)"
}

rows=0
while read -r function for_compiler most_i was_i most_s was_s most_c was_c most_f was_f; do
  [[ $function == \#* || -z $function || $for_compiler != "$compiler" ]] && continue
  rows=$((rows + 1))
  report=$(judge "$function")
  read -r _ instructions stores calls functions < <(grep '^count ' <<< "$report")
  if [[ $record ]]; then
    echo "$function $compiler $most_i $instructions $most_s $stores $most_c $calls $most_f $functions"
    continue
  fi
  echo "$function, $compiler: $instructions instructions, $stores stores, $calls indirect calls, $functions functions"
  while read -r _ sentence; do complain "$sentence"; done < <(grep '^bad ' <<< "$report")
  compare instructions "$instructions" "$most_i" "$was_i"
  compare stores "$stores" "$most_s" "$was_s"
  compare 'indirect calls' "$calls" "$most_c" "$was_c"
  compare functions "$functions" "$most_f" "$was_f"
done < "$limits"

((rows > 0)) || complain "$limits has no row for $compiler"
((failures == 0)) || { echo "FAILED: $failures findings in $object"; exit 1; }
