#!/usr/bin/env bash
# check_owners.sh ROOT: file descriptors and mappings of the product belong to objects. So close() and munmap() are each
# called in one place, runtime/src/file_descriptor.cpp and runtime/src/mapped_memory.cpp; files and folders of the C
# library are closed by what owns them, never by a call of fclose() or closedir(). Exit status 1 names the other places,
# 2: one of the two has no call, so that the check would check nothing.
#
# A call of close() is one with :: before, or one that names what it closes in a file that includes <unistd.h>: members of
# that name are called in others.
set -euo pipefail
cd "$1"
folders=(runtime via am splitc compiler-shim tools benchmarks)
status=0

# calls_of PATTERN FILE...: the lines of FILEs that match, without comments.
calls_of() {
  local pattern=$1
  shift
  [ $# -gt 0 ] || return 0
  grep -nHE "$pattern" "$@" | grep -vE '^[^:]*:[0-9]*:[[:space:]]*//' || true
}

check() {  # NAME PLACE FOUND
  local there elsewhere
  there=$(grep -c "^$2:" <<<"$3" || true)
  elsewhere=$(grep -v "^$2:" <<<"$3" | grep -v '^$' || true)
  [ "$there" -eq 1 ] || { echo "$2 has $there calls of $1(), and one was expected" >&2; exit 2; }
  [ -z "$elsewhere" ] || { printf '%s() is called outside %s:\n%s\n' "$1" "$2" "$elsewhere"; status=1; }
}

present=()
for folder in "${folders[@]}"; do [ -d "$folder" ] && present+=("$folder"); done
mapfile -t sources < <(find "${present[@]}" -name '*.cpp' -o -name '*.hpp' | sort)
mapfile -t posix < <(grep -lE '^#include <unistd.h>' "${sources[@]}" || true)

closes=$(calls_of '(^|[^>_[:alnum:]])::close\(' "${sources[@]}"
  calls_of '(^|[^.>:_[:alnum:]])close\([^)]' "${posix[@]}" | grep -vE '(void|Status) close\(' || true)
check close runtime/src/file_descriptor.cpp "$closes"
check munmap runtime/src/mapped_memory.cpp "$(calls_of '(^|[^.>_[:alnum:]])munmap\(' "${sources[@]}")"
files=$(calls_of '(^|[^.>_[:alnum:]])(fclose|closedir)\(' "${sources[@]}")
[ -z "$files" ] || { printf 'a file has no owner:\n%s\n' "$files"; status=1; }
[ "$status" -ne 0 ] || echo "${#sources[@]} sources have one call of close() and one of munmap()"
exit "$status"
