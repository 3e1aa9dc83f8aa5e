#!/usr/bin/env bash
# check_owners_selftest.sh CHECK: one call of each in its place passes; another, of any spelling, is refused by name;
# members of the same name and comments are not; a tree without the calls is an error.
set -euo pipefail
check=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/runtime/src" "$tree/tools"
status=0
"$check" "$tree" 2>/dev/null || status=$?
[ "$status" -eq 2 ] || { echo "a tree without calls ends with status $status"; exit 1; }
printf '#include <unistd.h>\nvoid close_descriptor(int fd) { ::close(fd); }\n' >"$tree/runtime/src/file_descriptor.cpp"
echo 'void reset() { ::munmap(base_, bytes_); }' >"$tree/runtime/src/mapped_memory.cpp"
cat >"$tree/tools/fine.cpp" <<'END'
#include <unistd.h>
// ::close(fd) and munmap(at, 1) stand in a comment.
void Link::close() noexcept {}
void end() { link.close(); link->close(1); close(); server_.munmap(1, 2); enclose(1); }
END
echo 'void Server::close(Id id) { close(id); }' >"$tree/tools/member.cpp"
"$check" "$tree" || { echo "one call of each does not pass"; exit 1; }
for line in 'void f() { ::close(fd); }' 'void f() { if (fd >= 0) close(fd); }' 'void f() { munmap(at, 1); }' \
  'void f() { ::munmap(at, 1); }' 'void f() { std::fclose(file); }' 'void f() { ::closedir(folder); }'; do
  printf '#include <unistd.h>\n%s\n' "$line" >"$tree/tools/second.cpp"
  status=0
  said=$("$check" "$tree") || status=$?
  [ "$status" -eq 1 ] || { echo "a second call passes: $line"; exit 1; }
  grep -q 'tools/second.cpp' <<<"$said" || { echo "the second call is not named: $said"; exit 1; }
done
