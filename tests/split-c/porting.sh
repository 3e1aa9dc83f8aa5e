#!/bin/sh
# porting.sh PAGE SPLITCC VIADUCT_RUN FOLDER: the steps of docs/porting-split-c.md, as they stand there.
page=$1 folder=$4
PATH=$(dirname "$2"):$(dirname "$3"):$PATH
rm -rf "$folder" && mkdir -p "$folder" && cd "$folder" || exit 1
fail() {
  echo "porting.sh: $*" >&2
  exit 1
}
# blocks LANGUAGE: what stands in the page's blocks of this language.
blocks() {
  sed -n "/^\`\`\`$1\( .*\)\{0,1\}\$/,/^\`\`\`\$/{/^\`\`\`/d;p;}" "$page"
}
blocks splitc >transpose.sc
blocks make >Makefile
blocks sh | grep '^sed ' >build.sh
blocks sh | grep '^viaduct-run ' >runs.sh
blocks text | grep '^splitcc: ' >said
for file in transpose.sc Makefile build.sh said; do [ -s $file ] || fail "the page has no $file"; done
[ "$(wc -l <runs.sh)" -eq 3 ] || fail "the page has not three runs"

sh build.sh >made 2>errors || fail "it is not built: $(cat made errors)"
diff -u said errors || fail "splitcc says something else than the page"
while read -r program option ranks rest; do
  says=$(sh -c "$program $option $ranks $rest") || fail "$program $option $ranks"
  [ "$says" = "transposed by $ranks processes" ] || fail "$program $option $ranks prints $says"
done <runs.sh
