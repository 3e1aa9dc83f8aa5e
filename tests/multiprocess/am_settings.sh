#!/bin/sh
# usage: am_settings.sh LAUNCHER PROGRAM
# Values of VIADUCT_AM_* and VIADUCT_PROVIDER that cannot be used are refused with a sentence that names the variable and the value.
launcher=$1 program=$2
failures=0

# refused VARIABLE VALUE [WORDS]
refused() {
  output=$(env "$1=$2" "$launcher" -n 2 --timeout 100 "$program" short.structs 2>&1)
  code=$?
  if [ "$code" -eq 0 ] || ! printf '%s\n' "$output" | grep "$1" | grep -e "$2" | grep -Eq -e "${3:-.}"; then
    printf '%s=%s: exit code %s\n%s\n' "$1" "$2" "$code" "$output"
    failures=$((failures + 1))
  fi
}
# works VARIABLE VALUE
works() {
  if ! output=$(env "$1=$2" "$launcher" -n 2 --timeout 100 "$program" short.structs size.combinations 2>&1); then
    printf '%s=%s must work\n%s\n' "$1" "$2" "$output"
    failures=$((failures + 1))
  fi
}

refused VIADUCT_AM_SLOTS 100 'power of two.*128'
refused VIADUCT_AM_SLOTS 4
refused VIADUCT_AM_SLOTS 65536
refused VIADUCT_AM_SLOTS many
refused VIADUCT_AM_SLOTS -8
refused VIADUCT_AM_CREDITS 0
refused VIADUCT_AM_CREDITS 57 '56 credits.*VIADUCT_AM_SLOTS'
refused VIADUCT_AM_CREDITS 1e3
refused VIADUCT_AM_MEDIUM_BYTES 100
refused VIADUCT_AM_MEDIUM_BYTES 10000 'power of two.*16384'
refused VIADUCT_AM_MEDIUM_BYTES 1T
refused VIADUCT_AM_POLL_EVERY 0
refused VIADUCT_AM_POLL_EVERY x
refused VIADUCT_PROVIDER myrinet 'shm and verbs'
works VIADUCT_PROVIDER shm
works VIADUCT_AM_SLOTS 8
works VIADUCT_AM_SLOTS 1024
works VIADUCT_AM_CREDITS 1
works VIADUCT_AM_MEDIUM_BYTES 64K
works VIADUCT_AM_POLL_EVERY 1
works VIADUCT_AM_POLL_EVERY 100000

# A name that nothing has is pointed out with the nearest that something has.
output=$(VIADUCT_AM_SLOT=8 "$launcher" -n 1 --timeout 100 "$program" short.structs 2>&1)
if ! printf '%s\n' "$output" | grep VIADUCT_AM_SLOT | grep -q VIADUCT_AM_SLOTS; then
  printf 'VIADUCT_AM_SLOT is not pointed out\n%s\n' "$output"
  failures=$((failures + 1))
fi

# Ranks must not differ. The generations and providers would wait for each other for ever.
for setting in VIADUCT_AM_SLOTS=64 VIADUCT_AM_CREDITS=7 VIADUCT_AM_MEDIUM_BYTES=16K \
  VIADUCT_AM_GENERATION=v3 "VIADUCT_AM_GENERATION=v1 v3" VIADUCT_PROVIDER=verbs; do
  before=${setting#* }  # a second value is that of the other ranks
  [ "$before" = "$setting" ] && before=
  output=$(env ${before:+"${setting%%=*}=$before"} "$launcher" -n 3 --timeout 20 sh -c \
    "if test \"\$VIADUCT_RANK\" = 1; then export ${setting% *}; fi; exec '$program' short.structs" 2>&1)
  code=$?
  if [ "$code" -eq 0 ] || ! printf '%s\n' "$output" | grep "rank 1 and rank 0 differ" | grep -q "${setting%%=*}"; then
    printf 'rank 1 alone has %s: exit code %s\n%s\n' "$setting" "$code" "$output"
    failures=$((failures + 1))
  fi
done
exit "$((failures != 0))"
