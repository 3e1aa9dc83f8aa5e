#!/bin/sh
# coded_selftest.sh CODED: the check finds a text without code, and a code without text.
set -eu
coded=$1
root=$(mktemp -d)
trap 'rm -r "$root"' EXIT
mkdir -p "$root/runtime/errors" "$root/splitc/src" "$root/runtime/launcher"
echo 'VIADUCT_ERROR(101, first, "cause", "remedy")' >"$root/runtime/errors/runtime.def"
good='void f() { throw Error(errors::first, EINVAL, "sentence"); }'
echo "$good" >"$root/runtime/good.cpp"
"$coded" "$root" >/dev/null || { echo "a right tree is refused"; exit 1; }

# wrong FILE TEXT WORDS
wrong() {
  echo "$2" >"$root/$1"
  if said=$("$coded" "$root"); then echo "not found: $2"; exit 1; fi
  case $said in *"$3"*) ;; *) echo "$2: $said"; exit 1 ;; esac
  rm "$root/$1"
}
wrong runtime/bad.cpp 'void f() { throw Error(std::errc::io_error, "sentence"); }' 'runtime/bad.cpp:1'
wrong runtime/bad.cpp 'void f() { throw_errno("sentence"); }' 'has no code'
wrong runtime/bad.cpp 'void f() { violate_contract(text); }' 'has no code'
wrong runtime/bad.cpp 'void f() { throw std::runtime_error("sentence"); }' 'says no code'
wrong runtime/bad.cpp 'void f() { std::abort(); }' 'says no code'
wrong splitc/src/bad.cpp 'void f() { stop("read", "sentence"); }' 'has no code'
wrong runtime/launcher/bad.cpp 'void f() { fail(kExitLauncher, "sentence"); }' 'has no code'
rm "$root/runtime/good.cpp"
wrong runtime/other.cpp 'void f() { throw Error(errors::second, EINVAL, "sentence"); }' 'no text has the code of first'
