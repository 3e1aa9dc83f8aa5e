#!/usr/bin/env bash
# flaky_test.sh ROOT: what tests/scripts/flaky prints and answers, and that its load is gone when it ends. ctest is played
# by a script, whose test fails in the second run.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tools" "$folder/tests/scripts" "$folder/path"
cp "$1/tests/scripts/flaky" "$folder/tests/scripts"
cp "$1/tools/test_report.py" "$folder/tools"
cat >"$folder/path/ctest" <<'SH'
#!/bin/sh
echo "$* on $(taskset -cp $$ | sed 's/.*: //')" >>calls
for _ in $(seq "${FAILS_IN_RUN:+10}0"); do # a loop that was just started still has its parent's name
  ps -o pid=,args= --ppid $PPID | awk '/while :/ { print $1 }' >now
  [ "$(wc -l <now)" -lt "$(nproc --all)" ] || break
  sleep 0.1
done
[ ! -e now ] || cat now >>loops
while [ "$1" != --output-junit ]; do shift; done
status=run
[ "$(wc -l <calls)" -ne "${FAILS_IN_RUN:-0}" ] || status=fail
echo "<t><testcase name='race' time='1' status='$status'><system-out>lost</system-out></testcase></t>" >"$2"
[ "$status" = run ]
SH
chmod +x "$folder/path/ctest"
cd "$folder"
PATH=$folder/path:$PATH

wrong() { printf 'flaky_test: %s\n' "$*"; exit 1; }

status=0
said=$(FAILS_IN_RUN=2 tests/scripts/flaky -n 2 -R 'some test' 2>&1) || status=$?
[ "$status" -eq 1 ] || wrong "status $status: $said"
grep -qx ' *1 race one-core' <<<"$said" || wrong "does not name the test and the mode: $said"
[ "$(wc -l <calls)" -eq 4 ] || wrong "not two runs in two modes: $(cat calls)"
grep -q -- '-R some test on' calls || wrong "the options do not reach ctest: $(cat calls)"
[ "$(sed -n 2p calls | sed 's/.* on //')" = $(($(nproc) - 1)) ] || wrong "not on one core: $(cat calls)"
[ "$(wc -l <loops)" -eq $((4 * $(nproc))) ] || wrong "not a loop for each core: $(wc -l <loops)"
while read -r pid; do
  ! kill -0 "$pid" 2>/dev/null || wrong "the busy loop $pid goes on"
done <loops

said=$(tests/scripts/flaky -n 1 --modes quiet) || wrong "fails without a failure: $said"
grep -qx 'no test failed in 1 runs' <<<"$said" || wrong "$said"
for options in '-n 0' '-n' '--modes loud' '--preset'; do
  status=0
  # shellcheck disable=SC2086  # words
  said=$(tests/scripts/flaky $options 2>&1) || status=$?
  [ "$status" -eq 2 ] || wrong "$options: status $status: $said"
done
