#!/usr/bin/env bash
# logp_recovers.sh VIADUCT_RUN LOGP SETTING...: logp finds the o, L and g that provider fault puts into a job's messages;
# a SETTING is "O L G", in ns. The judge is judged, too: told that a tenth more or less was injected, it must deny it.
# The machine is shared: each setting has attempts, of which one must succeed.
set -euo pipefail
run=$1 logp=$2
shift 2
judge=$(dirname "$0")/logp_judge.py
[ "$(nproc)" -ge 2 ] || { echo "logp needs two cores"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Above other programs where that is allowed: each run takes a second. In turns with other programs of that priority
# (-r): two of them, each bound to both cores, would wait for each other otherwise.
ahead=()
if chrt -r 1 true 2>/dev/null; then ahead=(chrt -r 1); fi

# A rank that waits for a reply longer than it spins tells its peer all counts first, which is a message more.
export VIADUCT_SPIN_NS=1s

measure() { # measure FILE PROVIDER OPERATIONS
  "${ahead[@]}" "$run" -n 2 --bind --timeout 60 "$logp" --provider "$2" --parameters --rounds 1 --iters "$3" --json "$folder/$1" >"$folder/out" 2>&1 || { cat "$folder/out"; exit 1; }
}

# judged O L G: 0 when the figures tell of these, 1 when not.
judged() {
  local status=0
  python3 "$judge" "$folder"/{plain,with}.json "$@" || status=$?
  [ "$status" -le 1 ] || { echo "the judge had nothing to judge by"; exit 1; }
  return "$status"
}

# The judge must deny each value that differs by a tenth.
denies() { # denies O L G
  local i factor wrong
  for i in 0 1 2; do
    for factor in 9 11; do
      wrong=("$@")
      [ "${wrong[i]}" -ne 0 ] || continue
      wrong[i]=$((wrong[i] * factor / 10))
      if judged "${wrong[@]}" >"$folder/denial"; then
        echo "the judge believes in ${wrong[*]}:"
        cat "$folder/denial"
        return 1
      fi
    done
  done
}

recovered() { # recovered O L G
  local attempt
  for attempt in $(seq 20); do
    [ -f "$folder/plain.json" ] || measure plain.json "fault(shm)" 5000
    measure with.json "fault(shm,o=$1,L=$2,g=$3)" 1500
    echo "o=$1 L=$2 g=$3, attempt $attempt"
    judged "$@" || { rm "$folder/plain.json"; continue; }
    denies "$@"
    return
  done
  echo "no attempt told of o=$1 L=$2 g=$3, which were injected"
  return 1
}

for setting in "$@"; do
  # shellcheck disable=SC2086  # three values
  recovered $setting
done
