#!/usr/bin/env bash
# check_layers.sh ROOT [GENERATED]
# Checks that the includes of every source under ROOT follow ROOT/cmake/layers.txt. GENERATED is a folder with headers
# that the build makes. Prints one sentence per violation; exit status 1 if there was one, 2 if nothing was checked.
set -euo pipefail
root=$1
generated=${2-}
cd "$root"

folders=$(awk '!/^#/ && NF { print $1 }' cmake/layers.txt)
present=()
for folder in $folders; do [ ! -d "$folder" ] || present+=("$folder"); done
[ ${#present[@]} -gt 0 ] || { echo "no layer's folder exists under $root" >&2; exit 2; }

# Every include of a quoted file, and of an angled one that names a layer: "file:line:path".
includes() {
  find "${present[@]}" \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.c' -o -name '*.ipp' \) -print0 |
    sort -z | xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' /dev/null |
    sed -nE 's/^([^:]+):([0-9]+):[^"<]*(["<])([^">]+)[">].*/\1:\2:\3:\4/p'
}

includes | awk -F: -v generated="$generated" '
  FILENAME == "cmake/layers.txt" {
    if ($0 !~ /^#/ && split($0, word, " ") == 3) { height[word[1]] = word[2]; kind[word[1]] = word[3] }
    next
  }
  function complain(what) { printf "%s:%s: includes \"%s\": %s\n", $1, $2, $4, what; bad = 1 }
  function exists(path,   line, status) { status = (getline line < path); close(path); return status >= 0 }
  # "viaduct/am/token.hpp" -> "am/include/viaduct/am/token.hpp"; "viaduct/job.hpp" lies where a layer has it.
  function place(path,   part, layer) {
    if (split(path, part, "/") < 2 || part[1] != "viaduct") return path
    if (part[2] in height) return part[2] "/include/" path
    for (layer in height) if (exists(layer "/include/" path)) return layer "/include/" path
    return path
  }
  function provider(path,   part) {
    sub(/^via\/include\/viaduct\//, "", path)
    return split(path, part, "/") == 3 && part[1] == "via" && part[2] !~ /^(src|detail|vipl)$/ ? part[2] : ""
  }
  {
    at = place($4)
    split($1, from, "/"); split(at, to, "/"); ++seen
    if (!(to[1] in height)) {
      if ($4 ~ /^viaduct\//) { complain("there is no such file"); next }
      if ($3 == "<") next
      complain("not written from the root of the repository (folder/file.hpp)"); next
    }
    if (!exists(at) && (generated == "" || !exists(generated "/" $4))) { complain("there is no such file"); next }
    if ($1 ~ /\/include\/viaduct\// && at !~ /\/include\/viaduct\//) {
      complain("not public: programs that include this header do not find it"); next
    }
    if (from[1] == to[1]) {
      a = provider($1); b = provider(at)
      if (a != "" && b != "" && a != b && a !~ /^(fault|channel)$/) complain("one provider uses another")
      else if ($1 ~ /^via\/generations\// && at ~ /^via\/(include\/viaduct\/via\/)?(shm|verbs|fault|channel|vipl)\//)
        complain("generations stand on via/*.hpp alone, whatever the provider")
      next
    }
    if (from[1] ~ /^(am|splitc)$/ && provider(at) ~ /^(shm|verbs)$/) {
      complain("messages go by channels (via/channel), which stand on the providers"); next
    }
    if (height[to[1]] > height[from[1]]) complain(from[1] "/ lies below " to[1] "/")
    else if (height[to[1]] == height[from[1]]) complain(from[1] "/ and " to[1] "/ are programs beside each other")
    else if (kind[from[1]] != "test" && at ~ /\/(src|detail)\//) complain("private to " to[1] "/")
  }
  END {
    if (!seen) { print "no include was found: the check checks nothing"; exit 2 }
    printf "%d includes checked\n", seen
    exit bad
  }' cmake/layers.txt - 
