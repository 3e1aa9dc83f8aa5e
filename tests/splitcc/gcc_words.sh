#!/bin/sh
# gcc_words.sh SPLITCC FOLDER [--update]: what gcc finds in translated programs is said in the words of Split-C, as the .txt
# files hold it, and no name of the translation is in it.
splitcc=$1 update=$3
cd "$2" || exit 1
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
failed=0
for source in *.sc; do
  "$splitcc" -Wall -Wextra -c "$source" -o /dev/null 2>"$said"
  if grep -n vsc_ "$said"; then
    echo "gcc_words.sh: $source: names of the translation are shown" >&2
    failed=1
  fi
  [ "$update" != --update ] || cp "$said" "${source%.sc}.txt"
  diff -u "${source%.sc}.txt" "$said" || failed=1
done
exit $failed
