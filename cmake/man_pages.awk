# Man pages of a C header: awk -v folder=FOLDER -v date=YYYY-MM-DD -v version=VERSION -v interface=NAME -v what=TEXT -v see=TEXT -f man_pages.awk HEADER [OLD_NAMES]
# Each function with its comment becomes FOLDER/NAME.3: what the comment says stands in the header alone. A macro of M
# that declares a function for each number of arguments becomes NAMEM.3, with NAME0.3 to NAME16.3 leading to it.
# OLD_NAMES is a header with macros that are other names of such functions: each leads to the page, too.
function text(line) { gsub(/\\/, "\\\\", line); sub(/^[.']/, "\\\\\\&&", line); gsub(/-/, "\\-", line); return line }
function page(name,   file, i, word, results, line, purpose) {
  purpose = "a function of " what
  if (comment[1] ~ /^The same/) purpose = "as the function before it, for its other queue, or waiting"
  file = folder "/" name ".3"
  printf ".TH %s 3 \"%s\" \"viaduct %s\" \"%s\"\n.SH NAME\n%s \\- %s\n", name, date, version, interface, name, purpose > file
  printf ".SH SYNOPSIS\n.nf\n#include <%s>\n.PP\n%s\n.fi\n.SH DESCRIPTION\n", header, text(declaration) > file
  results = 0
  for (i = 1; i <= lines; ++i) {
    line = comment[i]
    if (sub(/^ *@return */, "", line)) { print ".SH RETURN VALUE" > file; results = 1 }
    else if (match(line, /  @return /)) {
      print text(substr(line, 1, RSTART - 1)) "\n.SH RETURN VALUE" > file
      line = substr(line, RSTART + RLENGTH); results = 1
    }
    else if (line ~ /^ *(Blocks|Order|Cost|Progress|Blocks, Order)  /) {
      sub(/^ +/, "", line); word = line; sub(/  .*/, "", word)
      sub(/^[A-Z][a-z]+(, [A-Z][a-z]+)? +/, "", line)
      printf ".TP\n%s\n", word > file
    }
    sub(/^ +/, "", line)
    print text(line) > file
  }
  if (!results) printf ".SH RETURN VALUE\nAs the function before it in %s.\n", header > file
  printf ".SH SEE ALSO\n%s\n", see > file
  close(file)
}
function reference(name, to,   file) {
  file = folder "/" name ".3"
  printf ".so man3/%s.3\n", to > file
  close(file)
}
function forms(name,   i, base) {
  base = substr(name, 1, length(name) - 1)
  for (i = 0; i <= 16; ++i) reference(base i, name)
}
BEGIN { header = ARGV[1]; sub(/.*\//, "", header) }
/^\/\*\*/ && !/@file/ { lines = 0; on = 1; sub(/^\/\*\* */, "") }
on {
  done = sub(/ *\*\/.*$/, "")
  sub(/^ \* ?/, "")
  if (done || $0 != "") comment[++lines] = $0
  if (done) on = 0
  next
}
/^#define [A-Z_]+\(M\)/ && lines > 0 && comment[1] ~ /M: / { in_macro = 1; declaration = ""; sub(/^#define [A-Z_]+\(M\) */, "") }
in_macro {
  more = sub(/ *\\$/, "")
  sub(/^  /, "")
  declaration = declaration (declaration == "" ? "" : "\n") $0
  if (!more) {
    in_macro = 0
    gsub(/VIADUCT_AM_P##M/, ", int arg0, ...", declaration); gsub(/##M/, "M", declaration)
    gsub(/ *\n *, int/, ", int", declaration); gsub(/ , int/, ", int", declaration)
    name = comment[1]; sub(/:.*/, "", name)
    sub(/^[^:]*: /, "", comment[1])
    page(name); forms(name); lines = 0
  }
  next
}
/^#define AM_[A-Za-z]+[0-9]+ AM_[A-Za-z]+[0-9]+$/ {
  name = $2; to = $3
  sub(/[0-9]+$/, "M", to)
  reference(name, to)
  if (sub(/0$/, "M", name) && $2 ~ /[A-Za-z]0$/) reference(name, to)
  next
}
/^(VIP_RETURN Vip|int AM|const char\* AM)[A-Za-z_]*\(/ { declaration = ""; in_declaration = 1 }
in_declaration {
  declaration = declaration (declaration == "" ? "" : "\n") $0
  if (/;$/) {
    in_declaration = 0
    name = declaration; sub(/\(.*/, "", name); sub(/.* /, "", name)
    gsub(/(^|[ (])(IN OUT|IN|OUT) /, "&\001", declaration); gsub(/(IN OUT|IN|OUT) \001/, "", declaration)
    page(name)
  }
}
