#!/usr/bin/env bash
# check_layers_selftest.sh CHECK LAYERS
# Plants one violation of each kind in a small tree and wants check_layers.sh to name it; the tree without it must pass.
set -euo pipefail
check=$1
layers=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{cmake,via/generations/src,via/shm,via/verbs,via/fault,via/channel,benchmarks,examples,tests}
mkdir -p "$tree"/{runtime/src,runtime/include/viaduct,via/include/viaduct/via/shm,am/include/viaduct/am/detail}
cp "$layers" "$tree/cmake/layers.txt"

put() { printf '#include %s\n' "${@:2}" >"$tree/$1"; }
put runtime/include/viaduct/job.hpp '<vector>'
put runtime/shared.hpp '"viaduct/job.hpp"'
put runtime/src/inner.hpp '"viaduct/job.hpp"'
put via/include/viaduct/via/vi.hpp '"viaduct/job.hpp"'
put via/include/viaduct/via/shm/vi.hpp '"viaduct/via/vi.hpp"' '<viaduct/job.hpp>'
put via/shm/nic.hpp '"viaduct/via/shm/vi.hpp"' '"runtime/shared.hpp"'
put via/verbs/vi.hpp '"viaduct/via/vi.hpp"'
put via/fault/vi.hpp '"viaduct/via/shm/vi.hpp"'
put via/channel/engine.hpp '"via/shm/nic.hpp"'
put am/include/viaduct/am/detail/window.hpp '"viaduct/via/vi.hpp"'
put am/include/viaduct/am/endpoint.hpp '"viaduct/am/detail/window.hpp"'
put am/context.cpp '"via/channel/engine.hpp"'
put benchmarks/logp.cpp '"viaduct/am/endpoint.hpp"'
put examples/hello.cpp '"viaduct/am/endpoint.hpp"'
put tests/window.cpp '"viaduct/am/detail/window.hpp"'

"$check" "$tree" || { echo "a correct tree does not pass"; exit 1; }

# expect SENTENCE FILE INCLUDE: the tree with FILE including INCLUDE must be refused with SENTENCE, naming the line.
failures=0
expect() {
  local sentence=$1 file=$2 output status=0
  put "$file" "$3"
  output=$("$check" "$tree") || status=$?
  if [ "$status" -ne 1 ] || ! grep -qF "$file:1: includes" <<<"$output" || ! grep -qF "$sentence" <<<"$output"; then
    printf 'not found (status %s): %s including %s\n%s\n' "$status" "$file" "$3" "$output"
    failures=1
  fi
  rm "$tree/$file"
}
expect 'runtime/ lies below via/' runtime/up.hpp '"viaduct/via/vi.hpp"'
expect 'via/ lies below am/' via/up.cpp '<viaduct/am/endpoint.hpp>'
expect 'private to am/' benchmarks/inside.cpp '"viaduct/am/detail/window.hpp"'
expect 'private to runtime/' am/inside.cpp '"runtime/src/inner.hpp"'
expect 'not public' via/include/viaduct/via/nic.hpp '"runtime/shared.hpp"'
expect 'one provider uses another' via/shm/other.hpp '"via/verbs/vi.hpp"'
expect 'one provider uses another' via/verbs/other.hpp '"viaduct/via/shm/vi.hpp"'
expect 'one provider uses another' via/shm/up.hpp '"via/channel/engine.hpp"'
expect 'generations stand on' via/generations/src/map.cpp '"viaduct/via/shm/vi.hpp"'
expect 'one provider uses another' via/generations/open.cpp '"via/shm/nic.hpp"'
expect 'messages go by channels' am/past.cpp '"via/shm/nic.hpp"'
expect 'messages go by channels' am/past.hpp '"viaduct/via/shm/vi.hpp"'
expect 'programs beside each other' examples/borrow.cpp '"benchmarks/logp.cpp"'
expect 'no such file' am/gone.cpp '"via/gone.hpp"'
expect 'no such file' am/old.cpp '"viaduct/job_of_old.hpp"'
expect 'not written from the root' via/relative.cpp '"../runtime/shared.hpp"'
expect 'not written from the root' via/short.cpp '"vi.hpp"'
exit "$failures"
