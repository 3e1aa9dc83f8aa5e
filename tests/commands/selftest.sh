#!/usr/bin/env bash
# selftest.sh RUN_COMMANDS: run_commands.py finds a command that fails, one that it cannot see, and an exception too many.
set -euo pipefail
program=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/docs" "$root/tests/commands" "$root/build" "$root/examples"
: >"$root/CONTRIBUTING.md"
git -C "$root" init -q

# says STATUS WORDS: what run_commands.py answers.
says() {
  local status=0 said
  said=$("$program" "$root" "$root/build" 2>&1) || status=$?
  [ "$status" -eq "$1" ] && grep -qF -- "$2" <<<"$said" || { echo "selftest: wanted $1 and '$2', got $status: $said"; exit 1; }
}
cat >"$root/README.md" <<'TXT'
This is `hello.txt`:

```text hello.txt
well
```

```sh
cd ~/programs && grep -q well hello.txt   # its file is there
greeting=hello
test $greeting = hello &&
  test -e ../../viaduct/README.md \
    -a ! -e ../../viaduct/gone
```
TXT
printf '// Head.\n//\n//     splitcc --help     [FILE]\n' >"$root/examples/a.cpp"
echo 'examples/a.cpp | splitcc --help$ | never | not here' >"$root/tests/commands/exceptions.txt"
says 0 '1 of them never run here'

echo 'docs/a.md | true | never | no such command' >>"$root/tests/commands/exceptions.txt"
printf 'A page.\n\n```sh\necho a; false\n```\n' >"$root/docs/a.md"
says 1 "docs/a.md:4: echo a; false"
says 1 "docs/a.md has no command that begins with 'true'"
echo 'examples/a.cpp | splitcc --help$ | never | not here' >"$root/tests/commands/exceptions.txt"

printf 'A page.\n\n    viaduct-run -n 2 ./a\n' >"$root/docs/a.md"
says 1 'docs/a.md:3: a command in an indented block'
echo 'examples/a.cpp | splitcc | sometimes | not here' >"$root/tests/commands/exceptions.txt"
says 1 'not DOCUMENT | COMMAND | never or long | REASON'
