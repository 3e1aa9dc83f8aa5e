# shellcheck shell=bash disable=SC2154 # $work is the including test's
# Sourced by tests of two processes that are started by themselves and meet by a rendezvous. $work is a folder of the
# test's.
unset VIADUCT_JOB_ID VIADUCT_PROVIDER
VIADUCT_JOB_SECRET=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export VIADUCT_JOB_SECRET VIADUCT_JOIN_TIMEOUT=20s
processes=()

# go_elsewhere: the next two meet at another place.
go_elsewhere() {
  export VIADUCT_RENDEZVOUS=tcp://127.0.0.1:$((20000 + RANDOM % 20000))
}
# start RANK COMMAND...: in the background; $work/RANK.log gets what it says.
start() {
  VIADUCT_RANK=$1 "${@:2}" >"$work/$1.log" 2>&1 &
  processes[$1]=$!
}
# both_end: waits for ranks 0 and 1 and shows what they have said; fails when one has failed.
both_end() {
  local status=0
  wait "${processes[1]}" || status=$?
  wait "${processes[0]}" || status=$?
  cat "$work/0.log" "$work/1.log"
  return $status
}
# port_was_taken: another program has the port, and the two are to try again elsewhere.
port_was_taken() {
  grep -q 'another program listens there' "$work/0.log"
}
