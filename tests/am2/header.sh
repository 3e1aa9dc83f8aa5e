#!/usr/bin/env bash
# header.sh C_COMPILER CXX_COMPILER FOLDER: am.h and am_spmd.h alone, in C and C++ of several ages; the forms of calls that
# programs have, null pointers in all of them, and functions that a program declares once more.
set -euo pipefail
cc=$1
cxx=$2
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <am.h>\n#include <am.h>\nen_t name;\nAM_ArgBlock block;\n' >"$work/header.c"
printf '#include <am_spmd.h>\nen_t name;\n' >"$work/spmd.c"
warnings=(-pedantic -Wall -Wextra -Wconversion -Werror -fsyntax-only -I"$3")
for source in "$work/header.c" "$work/spmd.c"; do
  for standard in c89 gnu89 c11 gnu17; do "$cc" -std=$standard "${warnings[@]}" "$source"; done
  for standard in c++98 c++20; do "$cxx" -std=$standard -x c++ "${warnings[@]}" "$source"; done
done
"$cc" -std=c89 "${warnings[@]}" -DC89_FORMS "$here/call_forms.c"
for standard in gnu89 c99 gnu17; do "$cc" -std=$standard "${warnings[@]}" "$here/call_forms.c"; done
"$cxx" -std=c++20 -x c++ "${warnings[@]}" -Wno-old-style-cast "$here/call_forms.c"
for standard in c++11 c++20; do "$cxx" -std=$standard -x c++ "${warnings[@]}" -Wno-old-style-cast "$here/null_arguments.cpp"; done
for standard in gnu89 c99 gnu17; do "$cc" -std=$standard -Wall -Werror -fsyntax-only -I"$3" "$here/declared_again.c"; done

# Each name is a macro or a constant once only.
twice=$(grep -ohE "^#define [A-Za-z_0-9]+" "$3/am.h" "$3/am_spmd.h" | sort | uniq -d)
[ -z "$twice" ] || { echo "defined twice: $twice"; exit 1; }
