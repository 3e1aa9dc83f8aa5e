#!/usr/bin/env bash
# logp_recovers.sh HOW VIADUCT_RUN am LOGP SETTING..., or ... get SPLITC_LOGP SETTING...: the benchmark finds the o, L and g
# that provider fault puts into a job's messages, of requests or of gets; a SETTING is "O L G", in ns.
# HOW is `shows`: the times are at least as long as the delays make them, whatever else the machine does. Or `recovers`: each
# value is right within 5 %, and the judge is judged, too: told that a tenth more or less was injected, it must deny it. The
# machine is shared, and its two processors may be one core for minutes, where a delay's pace depends on what the other one
# does: so each setting has attempts, of which one must succeed. A benchmark that finds other values fails all of them.
set -euo pipefail
how=$1 run=$2 messages=$3 program=$4
shift 4
case "$messages" in
  am) prefix="" only=(--parameters) ;;
  get) prefix=get_ only=(--operation get) ;;
esac
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
  VIADUCT_PROVIDER=$2 "${ahead[@]}" "$run" -n 2 --bind --timeout 60 "$program" --provider "$2" "${only[@]}" --rounds 1 \
    --iters "$3" --json "$folder/$1" >"$folder/out" 2>&1 || { cat "$folder/out"; exit 1; }
}

# judged O L G: 0 when the figures tell of these, 1 when not.
judged() {
  local status=0
  python3 "$judge" "$folder"/{plain,with}.json "$prefix" "$@" || status=$?
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
  for attempt in $(seq 100); do
    [ -f "$folder/plain.json" ] || measure plain.json "fault(shm)" 5000
    measure with.json "fault(shm,o=$1,L=$2,g=$3)" 1500
    echo "o=$1 L=$2 g=$3, attempt $attempt"
    # A value that lies between the right one and a wrong one tells of neither.
    if judged "$@" && denies "$@"; then return; fi
    rm "$folder/plain.json"
  done
  echo "no attempt told of o=$1 L=$2 g=$3, which were injected"
  return 1
}

shown() { # shown O L G
  measure with.json "fault(shm,o=$1,L=$2,g=$3)" 1500
  echo "o=$1 L=$2 g=$3"
  python3 "$judge" - "$folder/with.json" "$prefix" "$@"
}

for setting in "$@"; do
  # shellcheck disable=SC2086  # three values
  if [ "$how" = shows ]; then shown $setting; else recovered $setting; fi
done
