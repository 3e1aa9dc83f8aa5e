#!/usr/bin/env bash
# separate.sh SERVER CLIENT: two programs that nobody starts together find each other by a rendezvous and a name, and by
# its secret alone.
set -euo pipefail
server=$1
client=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset VIADUCT_JOB_ID VIADUCT_PROVIDER
export VIADUCT_SIZE=2 VIADUCT_JOIN_TIMEOUT=20s
secret=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')

# start RANK NAME SECRET PROGRAM...: in the background.
start() {
  VIADUCT_RANK=$1 VIADUCT_VIPL_NAME=$2 VIADUCT_JOB_SECRET=$3 "${@:4}" >"$work/$1.log" 2>&1 &
}

for attempt in 1 2 3; do # another program may have the port
  export VIADUCT_RENDEZVOUS=tcp://127.0.0.1:$((20000 + RANDOM % 20000))
  start 0 a-server "$secret" "$server"
  first=$!
  start 1 a-client "$secret" "$client" a-server
  second=$!
  status=0
  wait $second || status=$?
  wait $first || status=$?
  cat "$work/0.log" "$work/1.log"
  if ! grep -q 'in use' "$work/0.log"; then break; fi
done
[ $status = 0 ]
grep -q '100 echoes, 0 failures' "$work/0.log"

# The client need not know how many processes there are, since the server says it; it must not say another number.
export VIADUCT_RENDEZVOUS=tcp://127.0.0.1:$((20000 + RANDOM % 20000))
start 0 a-server "$secret" "$server"
first=$!
start 1 a-client "$secret" env -u VIADUCT_SIZE "$client" a-server
second=$!
wait $second && wait $first || { cat "$work/0.log" "$work/1.log"; exit 1; }
grep -q '100 echoes, 0 failures' "$work/0.log"
export VIADUCT_RENDEZVOUS=tcp://127.0.0.1:$((20000 + RANDOM % 20000))
begin=$SECONDS
start 0 a-server "$secret" "$server"
first=$!
start 1 a-client "$secret" env VIADUCT_SIZE=3 "$client" a-server
second=$!
if wait $second; then echo "a client with another number of processes was served"; exit 1; fi
if wait $first; then echo "a server with another number of processes was content"; exit 1; fi
cat "$work/0.log" "$work/1.log"
for log in 0 1; do grep -q 'says that the job has 3 ranks, rank 0 says 2' "$work/$log.log"; done
[ $((SECONDS - begin)) -lt 15 ] # not the time limit of those who wait for others

# Another secret, or none, finds nobody.
export VIADUCT_JOIN_TIMEOUT=2s VIADUCT_RENDEZVOUS=tcp://127.0.0.1:$((20000 + RANDOM % 20000))
start 0 a-server "$secret" "$server"
first=$!
start 1 a-client "$(tr 0-9a-f 1-9a-f0 <<<"$secret")" "$client" a-server
second=$!
if wait $second; then echo "a client with another secret was served"; exit 1; fi
if wait $first; then echo "a server without a client was content"; exit 1; fi
cat "$work/0.log" "$work/1.log"
grep -q secret "$work/1.log"
export VIADUCT_RANK=1
if env -u VIADUCT_JOB_SECRET "$client" a-server >"$work/none.log" 2>&1; then
  echo "a client without a secret was served"
  exit 1
fi
grep -q VIADUCT_JOB_SECRET "$work/none.log"
