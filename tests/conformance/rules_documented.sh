#!/bin/sh
# usage: rules_documented.sh PROGRAM DOCUMENT
# The table of rules in DOCUMENT is what PROGRAM --list prints.
listed=$("$1" --list | grep '^| `')
documented=$(grep '^| `' "$2")
if [ -z "$listed" ] || [ "$listed" != "$documented" ]; then
  echo "$2 does not list the cases of $1 as they are. Replace its table with the output of --list:"
  printf '%s\n' "$listed"
  exit 1
fi
