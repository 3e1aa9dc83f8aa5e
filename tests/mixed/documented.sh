#!/bin/bash
# usage: documented.sh LAUNCHER PROGRAM GUIDE
# The table of the section "Both models in one program" of GUIDE must name the waits that PROGRAM tests, by model in its
# rows, and in its head the operations that it tests them against, by model in its columns.
listed=$("$1" -n 2 --timeout 50 "$2" rows) || { echo "$listed"; exit 1; }
section=$(sed -n '/^### Both models in one program/,/^##* [^B]/p' "$3")
[ -n "$section" ] || { echo "no such section"; exit 1; }
# named PREFIX COLUMN: the names between backquotes in the row that begins with PREFIX.
named() { grep "^| $1" <<<"$section" | cut -d'|' -f$(($2 + 1)) | grep -o '`[^`]*`' | tr -d '`' | sort; }
status=0
while IFS=: read -r kind column prefix; do
  wanted=$(sed -n "s/^$kind //p" <<<"$listed" | sort)
  [ -n "$wanted" ] || { echo "the program lists no $kind"; status=1; }
  diff <(named "$prefix" "$column") <(echo "$wanted") || { echo "$prefix: < documented, > tested"; status=1; }
done <<'END'
splitc:1:Split-C
am:1:Active Messages
replies:1:Replies alone
end:1:The end
served-am:2:waits in
served-splitc:3:waits in
END
exit $status
