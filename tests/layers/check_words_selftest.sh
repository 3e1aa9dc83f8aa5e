#!/usr/bin/env bash
# check_words_selftest.sh CHECK: the check finds words that have been replaced, and leaves ordinary English alone.
set -euo pipefail
check=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p via/verbs/src am/src splitc/src runtime/launcher docs tests/unit/runtime
git init -q
echo said >.git/info/exclude

wrong() { printf 'check_words_selftest: %s\n' "$*"; exit 1; }

# What is right: ordinary English, new words, words outside their scope.
cat >via/nic.hpp <<'CPP'
// Messages under way; both ways of a link; the wire format of a control message. Bytes carried out of the ring.
// VIADUCT_VERBS_LINK_DEPTH, VIADUCT_SPLITC_OFF_NODE. The doorbell is cleared; a guarded word; settled at once.
void poll_transport(); int backlog_; std::lock_guard guard;
CPP
cat >runtime/launcher/start.cpp <<'CPP'
const std::lock_guard lock(mutex); std::unique_ptr<Impl> impl_;
CPP
printf '// 128 bytes apart; told apart by their names; apart from the last; in parts\n' >splitc/src/memory.cpp
printf 'The letters of a name, a note for the reader, parts of a page.\n' >docs/guide.md
printf 'wire\n' >tests/unit/runtime/data.cpp
git add -A
"$check" . >said || wrong "finds what is right: $(cat said)"

# Each text lies in a file of its own, so that one run finds them all: FILE with a number behind it.
files=()
texts=()
finds() { # finds FILE TEXT: the check names the file
  local file=$1_${#files[@]}
  mkdir -p "$(dirname "$file")"
  printf '%s\n' "$2" >"$file"
  files+=("$file")
  texts+=("$2")
}
finds via/a.hpp 'bool is_wired();'
finds via/a.hpp '// the wire has failed'
finds am/a.hpp 'namespace wire {'
finds via/a.hpp 'class RdmaCarrier {};'
finds splitc/a.hpp 'void carry_on();'
finds via/a.hpp 'struct Letter {};'
finds docs/verbs.md 'A rank that handles no letters is not lost.'
finds via/a.hpp 'Mail* mail = nullptr;'
finds via/a.hpp 'void take_note(std::uint32_t note);'
finds am/a.hpp 'inline constexpr std::uint64_t note_bit = 1;'
finds via/a.hpp 'void ring_bell();'
finds via/a.hpp 'void hush_bells();'
finds runtime/launcher/a.hpp 'class Keeper {};'
finds runtime/launcher/a.hpp '[[noreturn]] void be_guard();'
finds splitc/a.hpp 'class Collector;'
finds splitc/src/collective_engine.cpp 'Line* lines_of(int process);'
finds am/a.cpp 'void Endpoint::settle(Map& map) {}'
finds runtime/a.hpp 'struct Meeting {};'
finds splitc/a.hpp 'bool is_apart(int process);'
finds splitc/a.hpp '// a process that is apart'
finds splitc/a.hpp 'struct Machine::Parts {'
finds am/a.hpp 'bool take_stock();'
finds via/a.hpp 'std::vector<Vi*> held_back_;'
finds via/a.hpp 'void nudge(Rank rank);'
finds via/verbs/src/a.cpp 'if (p.way != nullptr) return;'
finds via/a.hpp 'std::vector<Zombie> zombies_;'
finds am/a.hpp '// does not fit its seal'
finds runtime/a.hpp 'void drop_oldest_stranger();'
finds docs/verbs.md 'VIADUCT_VERBS_WIRE_DEPTH places'
finds splitc/a.hpp 'bool off_node = false;  // VIADUCT_SPLITC_APART'
finds via/carrier.hpp '#pragma once'
git add -A
! "$check" . >said || wrong "finds nothing"
for i in "${!files[@]}"; do
  grep -q "^${files[i]}:" said || wrong "does not find '${texts[i]}' in ${files[i]%_*}: $(cat said)"
done
[ "$(cut -d: -f1 said | sort -u | wc -l)" -eq $((${#files[@]} + 1)) ] || wrong "names other files, too: $(cat said)"
