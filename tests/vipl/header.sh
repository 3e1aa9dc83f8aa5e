#!/usr/bin/env bash
# header.sh C_COMPILER CXX_COMPILER FOLDER: vipl.h alone, as C89, as C11 and as C++.
set -euo pipefail
cc=$1
cxx=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <vipl.h>\n#include <vipl.h>\nVIP_DESCRIPTOR descriptor;\n' >"$work/header.c"
warnings=(-pedantic -Wall -Wextra -Wconversion -Werror -fsyntax-only -I"$3")
"$cc" -std=c89 "${warnings[@]}" "$work/header.c"
"$cc" -std=c11 "${warnings[@]}" "$work/header.c"
"$cxx" -std=c++98 -x c++ "${warnings[@]}" "$work/header.c"
"$cxx" -std=c++20 -x c++ "${warnings[@]}" "$work/header.c"
