#!/usr/bin/env bash
# packages_test.sh ROOT: the list of packages is well formed, and what is missing from it is found and named, at once
# and without a network. dpkg-query, id and sudo are played by functions.
set -euo pipefail
cd "$1"
# shellcheck source=tools/common.sh
. tools/common.sh

wrong() { echo "packages_test: $*"; exit 1; }
equal() { [ "$1" = "$2" ] || wrong "'$1' is not '$2'"; }

# The list: every line has a name, a known use and a reason; no name twice.
awk '!/^#/ && NF && !($2 ~ /^(build|report|test|edit)$/ && NF > 2) { print "malformed: " $0; bad = 1 } END { exit bad }' packages.txt
equal "$(packages_for build report test edit | sort | uniq -d)" ''
[ "$(packages_for build | wc -l)" -gt 3 ] || wrong "nothing is needed to build"

system=("one installed" "two installed" "gone config-files")
dpkg-query() { # knows three packages and, like the real one, fails when asked for a stranger
  local entry known status=0
  for name in "${@:4}"; do
    known=
    for entry in "${system[@]}"; do [ "${entry% *}" != "$name" ] || { echo "${entry#* } $name"; known=1; }; done
    [ -n "$known" ] || status=1
  done
  return "$status"
}
equal "$(missing_packages one two)" ''
said=$(missing_packages one stranger two gone) || wrong "a stranger among the names makes the search fail"
equal "$said" $'stranger\ngone'

# All present: no package manager is called, whoever asks.
# shellcheck disable=SC2317  # called by ensure_packages
install_packages() { echo "would install $1 with '${*:2}'"; }
packages_for() { echo one; echo two; }
equal "$(ensure_packages build)" ''

# Missing: root installs, a user with sudo installs through it, anyone else is told the command, with status 1.
packages_for() { echo one; echo stranger; }
# shellcheck disable=SC2317
id() { echo 0; }
equal "$(ensure_packages build)" "would install stranger with ''"
# shellcheck disable=SC2317
id() { echo 1000; }
# shellcheck disable=SC2317
sudo() { return 0; }
equal "$(ensure_packages build)" "would install stranger with 'sudo'"
# shellcheck disable=SC2317
sudo() { return 1; }
status=0
said=$(ensure_packages build 2>&1 </dev/null) || status=$?
equal "$status" 1
grep -q 'apt-get install --no-install-recommends stranger' <<<"$said" || wrong "does not name the command: $said"
