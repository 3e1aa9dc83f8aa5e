#!/usr/bin/env bash
# separate.sh SERVER CLIENT: two programs that nobody starts together find each other by a rendezvous and a name, and by
# its secret alone.
set -euo pipefail
server=$1
client=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/scripts/rendezvous.sh
. "$(dirname "$0")/../scripts/rendezvous.sh"
export VIADUCT_SIZE=2

# start_both ENV...: the server as rank 0 and, with what env(1) gets from ENV, the client as rank 1.
start_both() {
  go_elsewhere
  start 0 env VIADUCT_VIPL_NAME=a-server "$server"
  start 1 env "$@" VIADUCT_VIPL_NAME=a-client "$client" a-server
}
# both_fail WHO: neither may end well.
both_fail() {
  if wait "${processes[1]}"; then echo "a client with $1 was served"; exit 1; fi
  if wait "${processes[0]}"; then echo "a server whose client had $1 was content"; exit 1; fi
  cat "$work/0.log" "$work/1.log"
}

# The client need not know how many processes there are, since the server says it; it must not say another number.
for known in VIADUCT_VIPL_NAME=a-client -uVIADUCT_SIZE; do
  for _ in 1 2 3; do
    start_both "$known"
    status=0
    both_end || status=$?
    port_was_taken || break
  done
  [ "$status" = 0 ]
  grep -q '100 echoes, 0 failures' "$work/0.log"
done
begin=$SECONDS
start_both VIADUCT_SIZE=3
both_fail 'another number of processes'
for log in 0 1; do grep -q 'says that the job has 3 ranks, rank 0 says 2' "$work/$log.log"; done
[ $((SECONDS - begin)) -lt 15 ] # not the time limit of those who wait for others

# Another secret, or none, finds nobody.
export VIADUCT_JOIN_TIMEOUT=2s
start_both VIADUCT_JOB_SECRET="$(tr 0-9a-f 1-9a-f0 <<<"$VIADUCT_JOB_SECRET")"
both_fail 'another secret'
grep -q secret "$work/1.log"
start 1 env -u VIADUCT_JOB_SECRET "$client" a-server
if wait "${processes[1]}"; then
  echo "a client without a secret was served"
  exit 1
fi
grep -q VIADUCT_JOB_SECRET "$work/1.log"
