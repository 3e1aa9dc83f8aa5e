#!/bin/sh
# same_output.sh VIADUCT_RUN RANKS PROGRAM OTHER: both must end with code 0 and print the same, and something.
first=$("$1" -n "$2" --timeout 25 "$3") || exit 1
second=$("$1" -n "$2" --timeout 25 "$4") || exit 1
[ -n "$first" ] || {
  echo "same_output.sh: $3 prints nothing" >&2
  exit 1
}
[ "$first" = "$second" ] || {
  echo "same_output.sh: $3 and $4 print different things" >&2
  exit 1
}
