#!/usr/bin/env bash
# header.sh C_COMPILER CXX_COMPILER FOLDER: vipl.h alone, as C89, as C11 and as C++.
set -euo pipefail
cc=$1
cxx=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <vipl.h>\n#include <vipl.h>\nVIP_DESCRIPTOR descriptor;\n' >"$work/header.c"
# Names that programs for Giganet's cLAN have.
cat >>"$work/header.c" <<'C'
VIP_ERROR_HANDLER on_error;
VIP_VI_CALLBACK on_descriptor;
VIP_CQ_CALLBACK on_entry;
int same_places(VIP_DESCRIPTOR* d);
int same_places(VIP_DESCRIPTOR* d) {
  d->Control.Next.Descriptor = d;
  d->Control.Control = VIP_CONTROL_OP_SENDRECV;
  d->Data[1].Data.Address = d;
  d->Data[0].Handle = 0;
  d->Data[0].Length = 4;
  return d->CS.Next.Address == d->DS[1].Local.Data.Address && d->DS[0].Local.Length == 4;
}
C
warnings=(-pedantic -Wall -Wextra -Wconversion -Werror -fsyntax-only -I"$3")
"$cc" -std=c89 "${warnings[@]}" "$work/header.c"
"$cc" -std=c11 "${warnings[@]}" "$work/header.c"
"$cxx" -std=c++98 -x c++ "${warnings[@]}" "$work/header.c"
"$cxx" -std=c++20 -x c++ "${warnings[@]}" "$work/header.c"
