# Man pages of vipl.h: awk -v folder=FOLDER -v version=VERSION -f vipl_man.awk vipl.h
# Each function with its comment becomes FOLDER/NAME.3: what the comment says stands in the header alone.
function text(line) { gsub(/\\/, "\\\\", line); sub(/^[.']/, "\\\\\\&&", line); gsub(/-/, "\\-", line); return line }
function page(name,   file, i, n, word, results, line) {
  file = folder "/" name ".3"
  printf ".TH %s 3 \"\" \"viaduct %s\" \"VIPL\"\n.SH NAME\n%s \\- %s\n", name, version, name, purpose > file
  printf ".SH SYNOPSIS\n.nf\n#include <vipl.h>\n.PP\n%s\n.fi\n.SH DESCRIPTION\n", text(declaration) > file
  results = 0
  for (i = 1; i <= lines; ++i) {
    line = comment[i]
    if (sub(/^ *@return */, "", line)) { print ".SH RETURN VALUE" > file; results = 1 }
    else if (match(line, /  @return /)) {
      print text(substr(line, 1, RSTART - 1)) "\n.SH RETURN VALUE" > file
      line = substr(line, RSTART + RLENGTH); results = 1
    }
    else if (line ~ /^(Blocks|Order|Cost)  /) {
      word = substr(line, 1, index(line, " ") - 1)
      sub(/^[A-Z][a-z]+ +/, "", line)
      printf ".TP\n%s\n", word > file
    }
    sub(/^ +/, "", line)
    print text(line) > file
  }
  if (!results) print ".SH RETURN VALUE\nAs the function before it in vipl.h." > file
  print ".SH SEE ALSO\nThe developer's guide of the VI Architecture 1.0; docs/vipl.md of viaduct." > file
  close(file)
}
/^\/\*\*/ && !/@file/ { lines = 0; on = 1; sub(/^\/\*\* */, "") }
on {
  done = sub(/ *\*\/.*$/, "")
  sub(/^ \* */, "")
  if (done || $0 != "") comment[++lines] = $0
  if (done) on = 0
  next
}
/^VIP_RETURN Vip/ { declaration = ""; in_declaration = 1 }
in_declaration {
  declaration = declaration (declaration == "" ? "" : "\n") $0
  if (/;$/) {
    in_declaration = 0
    name = declaration; sub(/^VIP_RETURN /, "", name); sub(/\(.*/, "", name)
    gsub(/(^|[ (])(IN OUT|IN|OUT) /, "&\001", declaration); gsub(/(IN OUT|IN|OUT) \001/, "", declaration)
    if (comment[1] ~ /^The same/) purpose = "as the function before it, for its other queue, or waiting"
    else purpose = "a function of VIPL, the C interface of the VI Architecture"
    page(name)
  }
}
