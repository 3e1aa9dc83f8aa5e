# shellcheck shell=bash
# Sourced by ./run, ./test and .ci/run: packages, building, messages. Expects the repository's root as working directory.

say() { printf '%s: %s\n' "$(basename "$0")" "$*"; }
fail() { say "$*" >&2; exit 1; }

# packages_for USE...: the names in packages.txt whose second column is one of USE.
packages_for() {
  awk -v uses=" $* " '!/^#/ && NF && index(uses, " " $2 " ") { print $1 }' packages.txt
}

# missing_packages NAME...: those that are not installed. dpkg-query fails for a name that it has never seen.
missing_packages() {
  { dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true; } |
    awk -v wanted="$*" '$1 == "installed" { have[$2] = 1 }
      END { n = split(wanted, names, " "); for (i = 1; i <= n; ++i) if (!(names[i] in have)) print names[i] }'
}

# ensure_packages USE...: installs what is missing, as root or with sudo; without either it names the command to type.
ensure_packages() {
  local missing sudo=()
  if ! command -v dpkg-query >/dev/null; then
    say "this is no Debian system; trusting that the equivalents of packages.txt are installed"
    return
  fi
  # shellcheck disable=SC2046  # names hold no spaces
  missing=$(missing_packages $(packages_for "$@") | paste -sd ' ')
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [ -t 0 ] && [ -t 1 ]; }; }; then
      sudo=(sudo)
    else
      fail "packages are missing and I may not install them. As root: apt-get install --no-install-recommends $missing"
    fi
  fi
  install_packages "$missing" "${sudo[@]}"
}

# install_packages "NAMES" [sudo]
install_packages() {
  local names=$1 log
  shift
  log=$(mktemp)
  say "installing $names"
  # shellcheck disable=SC2086  # names are to be split
  if ! { "$@" apt-get -q update && "$@" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
         --no-install-recommends $names; } >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "apt-get could not install them (is there a network?). By hand: apt-get install --no-install-recommends $names"
  fi
  rm -f "$log"
}

progress_seconds=30 # between two lines of progress where there is no terminal

# show_progress LABEL: copies nothing of a build's output but its [done/total], on one line of a terminal, elsewhere as a
# line now and then.
show_progress() {
  local line last=$SECONDS
  while IFS= read -r line; do
    [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] || continue
    if [ -t 1 ]; then
      printf '\r%s %s ' "$1" "${BASH_REMATCH[0]}"
    elif [ $((SECONDS - last)) -ge "$progress_seconds" ]; then
      printf '%s %s\n' "$1" "${BASH_REMATCH[0]}"
      last=$SECONDS
    fi
  done
  [ ! -t 1 ] || printf '\r\033[K'
}

# build_preset NAME [TARGET...]: configures and builds build/NAME quietly; the log is shown when it fails.
build_preset() {
  local preset=$1 directory=build/$1 log=build/$1/build.log targets=() started=$SECONDS
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  mkdir -p "$directory" 2>/dev/null || fail "cannot write to $PWD/build (does it belong to another user?)"
  { : >"$log"; } 2>/dev/null || fail "cannot write to $PWD/$log (does it belong to another user?)"
  # A checkout that was moved or copied has a cache that names the old place.
  local fresh=()
  if [ -f "$directory/CMakeCache.txt" ] &&
     ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(pwd -P)" "$directory/CMakeCache.txt"; then
    fresh=(--fresh)
  fi
  say "building $directory"
  # clang and the linker take their memory from malloc: in large pages they need a quarter less time where page faults
  # are dear, as in some virtual machines.
  # cmake forgets the preset's variables, the build type among them, when it finds that its compiler is another one than
  # before (g++ in another directory of PATH, say), and goes on without them.
  if ! { cmake --preset "$preset" "${fresh[@]}" &&
         { ! grep -q 'changed variables that require your cache to be deleted' "$log" ||
           cmake --preset "$preset" --fresh; } &&
         export GLIBC_TUNABLES=glibc.malloc.hugetlb=1 &&
         cmake --build --preset "$preset" "${targets[@]}"; } 2>&1 </dev/null | tee "$log" |
       show_progress "building $preset"; then
    grep -nE 'error|FAILED|Error' "$log" | head -n 20 >&2 || true # a failure may have none of these words
    tail -n 20 "$log" >&2
    fail "the build of preset '$preset' failed; all of it is in $log"
  fi
  say "built $directory in $((SECONDS - started)) s"
}
