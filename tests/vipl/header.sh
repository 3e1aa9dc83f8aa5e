#!/usr/bin/env bash
# header.sh C_COMPILER CXX_COMPILER FOLDER: vipl.h alone, as C89, as C11 and as C++; and with functions that a program
# declares once more.
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
# As was usual before prototypes: all functions, without parameters; and some with.
printf '#include <vipl.h>\n' >"$work/again.c"
sed -n 's/^\(VIP_RETURN Vip[A-Za-z]*\)(.*/\1();/p' "$3/vipl.h" >>"$work/again.c"
[ "$(wc -l <"$work/again.c")" -gt 40 ] || { echo "not all functions are found"; exit 1; }
cat >>"$work/again.c" <<'C'
VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr);
extern VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE, VIP_PVOID, VIP_ERROR_HANDLER);
C
for standard in c89 gnu17; do "$1" -std=$standard -Wall -Werror -fsyntax-only -I"$3" "$work/again.c"; done
warnings=(-pedantic -Wall -Wextra -Wconversion -Werror -fsyntax-only -I"$3")
"$cc" -std=c89 "${warnings[@]}" "$work/header.c"
"$cc" -std=c11 "${warnings[@]}" "$work/header.c"
"$cxx" -std=c++98 -x c++ "${warnings[@]}" "$work/header.c"
"$cxx" -std=c++20 -x c++ "${warnings[@]}" "$work/header.c"
