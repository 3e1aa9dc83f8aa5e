#!/usr/bin/env bash
# man_test.sh BUILD SOURCE: man finds the pages, and neither mandoc nor groff finds a mistake in any.
set -euo pipefail
build=$1
source=$2
for program in man mandoc groff; do
  command -v "$program" >/dev/null || { echo "skipped: there is no $program here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/man1" "$work/man3"
cp "$build"/manual/man1/*.1 "$work/man1"
cp "$build"/manual/man3/*.3 "$build"/man/*.3 "$work/man3"
export MANPATH=$work LC_ALL=C.UTF-8

for page in viaduct viaduct-run viaduct-info splitcc viaduct-splitc-store splitc::all_store_sync am::Endpoint::request viaduct::run viaduct::Job::rank \
  VipOpenNic AM_Init AM_Request4; do
  man -w "$page" >/dev/null || { echo "man -w $page finds nothing"; exit 1; }
done
shown=$(man splitc::all_store_sync | col -b)
grep -q 'void all_store_sync()' <<<"$shown" || { echo "man splitc::all_store_sync does not show the function"; exit 1; }
grep -q 'viaduct-splitc-store *(3)' <<<"$(man viaduct | col -b)" || { echo "man viaduct does not list the pages"; exit 1; }
grep -q -- '--timeout SECONDS' <<<"$(man viaduct-run | col -b)" || { echo "man viaduct-run does not show its options"; exit 1; }

# Each spelling that the C headers accept has a page.
names=$(sed -nE 's/^(VIP_RETURN|int|const char\*) ((Vip|AM_|AMX_)[A-Za-z]+)\(.*/\2/p; s/^#define (AM_[A-Za-z]+[0-9]*)(\(| AM_).*/\1/p' \
  "$source"/via/vipl/vipl.h "$source"/am/c/am.h "$source"/am/c/am_old.h "$source"/am/c/am_spmd.h | sort -u)
[ "$(wc -l <<<"$names")" -gt 220 ] || { echo "the headers have only these names: $names"; exit 1; }
for name in $names; do
  [ -f "$work/man3/$name.3" ] || { echo "$name has no page"; exit 1; }
done
grep -q 'man3/AM_RequestIM.3' "$work/man3/AM_RequestMedium4.3" || { echo "AM_RequestMedium4 leads elsewhere"; exit 1; }

# A page that is only a reference leads to one that is there.
grep -l '^\.so ' "$work"/man3/* >"$work/references"
while read -r page; do
  read -r _ target <"$page"
  [ -f "$work/$target" ] || { echo "$page leads to $target, which is not there"; exit 1; }
done <"$work/references"
grep -L '^\.so ' "$work"/man?/* >"$work/pages"
count=$(wc -l <"$work/pages")
[ "$count" -gt 80 ] || { echo "only $count pages"; exit 1; }
xargs mandoc -Tlint -W warning <"$work/pages" >"$work/lint" 2>&1 || { head -n 20 "$work/lint"; exit 1; }
xargs groff -ww -man -Tutf8 -z <"$work/pages" >"$work/groff" 2>&1
[ ! -s "$work/groff" ] || { head -n 20 "$work/groff"; exit 1; }
echo "$count pages and $(wc -l <"$work/references") references"
