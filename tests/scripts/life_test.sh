#!/usr/bin/env bash
# life_test.sh ROOT [PAGE]: the files and functions that docs/life-of-a-message.md names are there, and its instruction
# counts are those of tests/codegen.
#
# A line names a file, then functions of that file: `path/file.hpp` `name` `name`. An instruction count is written
# 82 (`request`), where the name is that of a row in tests/codegen/*_limits.txt.
set -euo pipefail
cd "$1"
page=${2:-docs/life-of-a-message.md}
[ -r "$page" ] || { echo "life_test: there is no $page"; exit 1; }

awk -v page="$page" '
# Whether the function stands in the file: as a word before a bracket.
function has(file, name,    line, found) {
  found = 0
  while ((getline line <file) > 0)
    if (line ~ ("(^|[^A-Za-z0-9_])" name "[(<]")) found = 1
  close(file)
  return found
}
function wrong(text) { printf "%s:%d: %s\n", page, FNR, text; bad = 1 }
FILENAME != page { if ($2 == "g++" && sub(/^viaduct_codegen_/, "", $1)) count[$1] = $4; next }
{
  rest = $0
  file = ""
  while (match(rest, /`[^`]*`/)) {
    before = substr(rest, 1, RSTART - 1)
    word = substr(rest, RSTART + 1, RLENGTH - 2)
    rest = substr(rest, RSTART + RLENGTH)
    if (word ~ /^[a-z_]+\/[a-z_\/]+\.[hc]pp$/) {
      file = word
      # A public header is named as programs include it: viaduct/am/token.hpp is am/include/viaduct/am/token.hpp.
      if (split(word, part, "/") > 2 && part[1] == "viaduct") file = part[2] "/include/" word
      files++
      if ((getline line <file) < 0) { wrong("there is no file " file); file = "" }
      close(file)
    } else if (match(before, /[0-9]+ \($/)) {
      counts++
      said = substr(before, RSTART, RLENGTH - 2)
      if (count[word] != said)
        wrong(word ": " said " instructions here, " count[word] " in tests/codegen")
    } else if (file != "" && before ~ /^ $/ && word ~ /^[a-z_]+$/) {
      functions++
      if (!has(file, word)) wrong("there is no function " word " in " file)
    } else {
      file = ""
    }
  }
}
END {
  if (files < 10 || functions < 10 || counts < 3) {
    printf "%s names %d files, %d functions and %d counts: what has become of them?\n", page, files, functions, counts
    bad = 1
  }
  exit bad
}' tests/codegen/*_limits.txt "$page"
