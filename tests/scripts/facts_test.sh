#!/usr/bin/env bash
# facts_test.sh ROOT: what tests/scripts/facts counts in a small checkout, in two beside each other, and how it ends when
# it cannot.
set -euo pipefail
facts=$1/tests/scripts/facts
command -v ctags >/dev/null || { echo "skipped: there is no ctags here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

wrong() { printf 'facts_test: %s\n' "$*"; exit 1; }
row() { # row NAME VALUE: the table has that row, once
  grep -qxF "| $1 | $2 |" said || wrong "no '$1' of '$2' in:" "$(cat said)"
}
listed() { # listed WORDS LINE...: the list whose name has WORDS holds these lines, and no others
  "$facts" --list "$1" before | tail -n +2 | sed 's/^ *//' >list
  printf '%s\n' "${@:2}" | diff - list >difference || wrong "$1: $(cat difference)"
}

mkdir -p before/{runtime/src,via/shm,via/verbs,am/detail,splitc,tests/codegen}
git -C before init -q
cat >before/am/send.hpp <<'CPP'
#pragma once
namespace viaduct::am {
/// Sends. Blocks never.
template <class T>
void send(const T& text);

/// Says something, but nothing that a caller can rely upon.
bool is_there();
void no_comment();
// No comment for users.
int wrong_comment();

class Small {
 public:
  Small() = default;
  Small(const Small&) = delete;
  /// How many there are.
  [[nodiscard]] int count() const noexcept { return count_; }
  /// @return how many fit in.
  [[nodiscard]] int
  grow(int by);

 private:
  void not_for_others();
  friend class Large;
  friend bool operator==(Small a, Small b) { return a.count_ == b.count_; }
  class Inner {
   public:
    void not_public();
  };
  via::shm::Vi* close_;
  int count_ = 0;
  static int all_;
};
namespace detail {
void not_for_users();
}
}  // namespace viaduct::am
CPP
{
  echo "struct Large {"
  for i in $(seq 31); do echo "  void function_$i();"; done
  echo "  Large& operator=(const Large&) = delete;"
  echo "  struct Nested { int a, b, c; };"
  echo "};"
  echo "struct Wide {"
  for i in $(seq 26); do echo "  int member_$i;"; done
  echo "  static int of_all;"
  echo "};"
} >before/splitc/large.hpp
{
  echo "// via::shm, a wire; not a firewire"
  echo "void Endpoint::longest(int n) {"
  for i in $(seq 59); do echo; done
  echo "}"
  echo "void just(int n) {"
  for i in $(seq 58); do echo; done
  echo "}"
  echo "int many(int n) {"
  for i in $(seq 16); do echo "  if (n == $i) say(\"if while for\");  // if"; done
  echo "  vi.close(n); close(n); LinkServer::close(n);"
  echo "  return ::close(n);"
  echo "}"
  echo "int few(int n) {"
  for i in $(seq 15); do echo "  if (n == $i) return n;"; done
  echo "  ::munmap(n, n); if_wired(); vi.is_wired(); p.is_remote();"
  echo "}"
} >before/am/all.cpp
printf 'via::shm\n' >before/splitc/not_known_to_git.cpp
printf 'via::shm\n' >before/am/README.md
printf '// comment\n\nint a;\n  // comment\nint b;  // comment\n' | tee before/via/shm/wired.cpp before/via/verbs/nic.cpp \
  >before/via/choice.cpp
printf 'Letter* letter;\n' >before/runtime/src/letters.hpp
printf '# table\nviaduct_codegen_a_poll g++ 92 82 6 5\nviaduct_codegen_a_poll clang++-14 97 88 7 6\n' \
  >before/tests/codegen/subjects_limits.txt
echo 'viaduct_codegen_store g++ 9 8 6 5' >before/tests/codegen/splitc_limits.txt
echo 'viaduct_codegen_played g++ 9 7 6 5' >before/tests/codegen/standin_limits.txt
git -C before add am/send.hpp am/all.cpp am/README.md splitc/large.hpp via runtime tests

"$facts" before >said
row fact before
row 'lines in am that name via::shm' 2
row 'lines in splitc that name via::shm' 0
row 'lines in am and splitc that ask whether a peer is remote' 1
row 'lines of runtime' '1 (1 of code)'
row 'lines of via' '15 (6 of code)'
row 'lines of am' '198 (72 of code)'
row 'lines of via, am and splitc' '277 (142 of code)'
row 'of these, between hosts' '10 (4 of code)'
row 'classes with more than 30 functions or 25 data members' 2
row 'large classes in headers of the hot path' 0
row 'most functions, most data members of a class' '31, 26'
row 'friend classes in via, am and splitc' 1
row 'functions over 60 lines' 1
row 'functions over 15 branches' 1
row 'public functions with a comment' '4 of 38, 10 %'
row 'public functions with a contract' '2 of 38, 5 %'
row 'the same without those that only answer' '2 of 37, 5 %'
row 'calls of close' 1
row 'calls of munmap' 1
row 'lines with an old word' 3
row 'instructions: a poll' 82
row 'instructions: store' 8
[ "$(grep -c 'instructions: ' said)" -eq 2 ] || wrong "$(cat said)"
listed 'lines in am that name' 'am/all.cpp:1:// via::shm, a wire; not a firewire' 'am/send.hpp:31:  via::shm::Vi* close_;'
listed 'classes with' '31 functions, 0 data members: splitc/large.hpp Large' \
  '0 functions, 26 data members: splitc/large.hpp Wide'
listed 'functions over 60' '61: am/all.cpp:2 Endpoint::longest'
listed 'functions over 15' '16: am/all.cpp:123 many'
listed 'friend' 'am/send.hpp:25:  friend class Large;'

# What is not to be.
status=0
"$facts" --none 'functions over 60' --none 'lines in splitc that name' before >said || status=$?
[ "$status" -eq 1 ] || wrong "--none of a long function: status $status"
[ "$(cat said)" = "$(printf 'functions over 60 lines, before: 1\n    61: am/all.cpp:2 Endpoint::longest')" ] ||
  wrong "--none said: $(cat said)"
"$facts" --none 'lines in splitc that name' before >said || wrong "--none of nothing: status $?"
[ ! -s said ] || wrong "--none of nothing said: $(cat said)"

mkdir -p before/am/include
cp before/splitc/large.hpp before/am/include/large.hpp
git -C before add am/include
status=0
"$facts" --none 'large classes' before >said || status=$?
[ "$status" -eq 1 ] || wrong "--none of a large class in a header of the hot path: status $status"
grep -q '31 functions, 0 data members: am/include/large.hpp Large' said || wrong "--none said: $(cat said)"
git -C before rm -rqf am/include

# Two beside each other; a row that one of them does not have is empty there.
cp -r before after
git -C after rm -q --cached -r am/send.hpp splitc tests
rm -r after/tests
"$facts" before after >said
row fact 'before | after'
row 'lines in am that name via::shm' '2 | 1'
row 'public functions with a contract' '2 of 38, 5 % | 0 of 0'
row 'instructions: a poll' '82 | '

# What cannot be counted is an error with a sentence.
fails() { # fails WORDS OPTION...
  local status=0
  "$facts" "${@:2}" >said 2>&1 || status=$?
  [ "$status" -eq 2 ] || wrong "${*:2}: status $status: $(cat said)"
  grep -q "$1" said || wrong "${*:2}: no '$1' in: $(cat said)"
}
fails 'is no checkout' .
fails "no row with a list is named like 'friendship'" --list friendship before
fails 'unrecognized arguments' --what before
mkdir empty
git -C empty init -q
fails 'has no source' empty
grep -q 'How things are counted' <<<"$("$facts" --help)" || wrong "--help says nothing of the counts"
