#!/usr/bin/env bash
# completion_test.sh BUILD: completion of bash knows each option, command and word that --help lists; zsh reads its own.
set -euo pipefail
build=$(realpath "$1")
folder=$build/manual/completion
bin=$build/bin

# completes WANTED WORD...: what the last word may become has WANTED.
completes() {
  local wanted=$1 name function
  shift
  name=$1
  function=_${name//-/_}
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  "$function" || true # nothing that fits is an answer, too
  [[ " ${COMPREPLY[*]} " == *" $wanted "* ]] || { echo "$*: no $wanted in: ${COMPREPLY[*]}"; exit 1; }
}
for program in viaduct-run viaduct-info splitcc; do
  # shellcheck disable=SC1090
  . "$folder/bash/$program"
  complete -p "$program" >/dev/null
  count=0
  for option in $("$bin/$program" --help | grep -oE '^  (-[a-zA-Z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    completes "$option" "$program" "${option:0:4}"
    count=$((count + 1))
  done
  [ "$count" -ge 2 ] || { echo "$program: only $count options"; exit 1; }
done
completes threads viaduct-run --mode t
completes choose viaduct-info c
completes --bytes viaduct-info choose --b
completes --emit-c splitcc --e
cd "$folder"
completes bash viaduct-run ba

if command -v zsh >/dev/null; then
  for file in "$folder"/zsh/_*; do
    zsh -n "$file"
    zsh -fc 'autoload -Uz compinit; compinit -D -u; fpath=('"$folder/zsh"' $fpath); autoload -Uz +X '"$(basename "$file")"
  done
  grep -q "'--mode\[.*(processes threads)'" "$folder/zsh/_viaduct-run"
fi
