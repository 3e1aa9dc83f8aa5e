#!/usr/bin/env bash
# mutants_test.sh ROOT: every seeded fault still fits the tree, there are enough of them, and their runner judges right:
# a tree of a few lines is played, in which one fault is found, one is missed and one does not build.
set -euo pipefail
root=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run="$root/tests/mutants/run"

wrong() { echo "mutants_test: $*"; exit 1; }
says() { grep -qF -- "$2" <<<"$1" || wrong "does not say '$2': $1"; }

# refuses STATUS WORDS ARGUMENTS...
refuses() {
  local wanted=$1 words=$2 status=0 said
  shift 2
  said=$("$run" "$@" 2>&1) || status=$?
  [ "$status" -eq "$wanted" ] || wrong "$*: status $status, not $wanted: $said"
  says "$said" "$words"
}

"$run" --check --tree "$root" || wrong "a record does not fit the tree"
list=$("$run" --list)
[ "$(wc -l <<<"$list")" -ge 60 ] || wrong "fewer than 60 mutants"
for layer in runtime via am splitc splitcc; do
  [ "$(grep -c "^$layer\." <<<"$list")" -ge 10 ] || wrong "fewer than 10 mutants of $layer"
done
refuses 2 'there is no mutant and no layer nothing' --only nothing --list

# A tree with a program of one line, and a preset of its own.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir "$folder/tree" "$folder/records"
cd "$folder/tree"
cat > CMakePresets.json <<'END'
{"version": 6,
 "configurePresets": [{"name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev"}],
 "testPresets": [{"name": "dev", "configurePreset": "dev", "output": {"outputOnFailure": true}}]}
END
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(tree LANGUAGES C)
enable_testing()
add_executable(answer answer.c)
add_test(NAME answer COMMAND answer)
END
echo '#include <stdlib.h>
int unused(void) { return 1; } int main(void) { return 40 + 2 != 42; }' > answer.c
git init -q .
git add .
git -c user.name=test -c user.email=test@example.invalid commit -q -m tree

# record NAME OLD NEW
record() {
  printf '[via.%s]\nfile: answer.c\nbreaks: something\nkillers: ^answer$\ntargets: answer\nold:\n|%s\nnew:\n|%s\n\n' \
    "$1" "$2" "$3" > "$folder/records/$1.txt"
}
record found '40 + 2' '40 - 2'
record missed 'return 1;' 'return 2;'
record broken 'int main' 'no main'
status=0
said=$("$run" --tree "$folder/tree" --records "$folder/records" --work "$folder/copies" --jobs 1 2>&1) || status=$?
[ "$status" -eq 1 ] || wrong "a missed fault: status $status: $said"
says "$said" 'via.found: killed answer'
says "$said" 'via.missed: survived the whole preset'
says "$said" 'via.broken: did not build'
says "$said" '3 mutants: 1 killed, 1 survived, 1 did not build'
[ -z "$(git status --porcelain --untracked-files=all)" ] || wrong "the tree was changed"
status=0
said=$("$run" --tree "$folder/tree" --records "$folder/records" --work "$folder/copies" --only via.found 2>&1) || status=$?
[ "$status" -eq 0 ] || wrong "a found fault: status $status: $said"

# What a test that hangs has started ends with it, in whatever session it runs.
record found '40 + 2' '({ system("setsid sleep 987"); 1; })'
status=0
said=$("$run" --tree "$folder/tree" --records "$folder/records" --work "$folder/copies" --only via.found --limit 2 2>&1) ||
  status=$?
[ "$status" -eq 0 ] || wrong "a test that hangs: status $status: $said"
says "$said" 'via.found: killed answer (time limit)'
for process in /proc/[0-9]*; do
  if { tr '\0' ' ' < "$process/cmdline"; } 2>/dev/null | grep -qx 'sleep 987 '; then wrong "$process is left over"; fi
done

tree=(--tree "$folder/tree" --records "$folder/records" --work "$folder/copies")
record gone 'no such text' 'x'
refuses 1 'its old text is 0 times in answer.c' "${tree[@]}" --check
refuses 2 'its old text is 0 times in answer.c' "${tree[@]}"
record gone 'return' 'x'
refuses 1 'its old text is 2 times in answer.c' "${tree[@]}" --check
record gone 'return 1' 'return 1'
refuses 2 'changes nothing' "${tree[@]}" --list
cp "$folder/records/found.txt" "$folder/records/gone.txt"
refuses 2 'the name via.found is there twice' "${tree[@]}" --list
echo 'nonsense' >> "$folder/records/gone.txt"
refuses 2 "'nonsense' is no line of a record" "${tree[@]}" --list
refuses_locked() {
  exec 9> "$folder/copies/lock"
  flock -n 9 || wrong "the lock is still held"
  refuses 2 'another run works in' "${tree[@]}"
  exec 9>&-
}
rm "$folder/records/gone.txt"
refuses_locked
refuses 2 'is no checkout of git' --tree "$folder" --work "$folder/copies"
echo "mutants_test: right"
