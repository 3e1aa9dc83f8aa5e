#!/bin/sh
# says.sh CODE REGEX COMMAND...: the command must end with this code and say this on standard error.
# CODE `fails': any but 0.
code=$1 regex=$2
shift 2
text=$("$@" 2>&1 >/dev/null)
found=$?
printf '%s\n' "$text"
if [ "$code" = fails ] && [ "$found" -eq 0 ] || [ "$code" != fails ] && [ "$found" -ne "$code" ]; then
  echo "says.sh: exit code $found, expected $code" >&2
  exit 1
fi
printf '%s\n' "$text" | grep -Eq -- "$regex" || {
  echo "says.sh: nothing that matches $regex" >&2
  exit 1
}
