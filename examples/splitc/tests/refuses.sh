#!/usr/bin/env bash
# refuses.sh REGEX COMMAND...: succeeds when COMMAND ends with exit code 2 and says one line that matches, once.
set -uo pipefail
regex=$1
shift
said=$("$@" 2>&1 </dev/null)
code=$?
matching=$(grep -cE -e "$regex" <<<"$said")
if [ "$code" -ne 2 ] || [ "$matching" -ne 1 ]; then
  printf 'exit code %s, %s lines match "%s" in:\n%s\n' "$code" "$matching" "$regex" "$said"
  exit 1
fi
