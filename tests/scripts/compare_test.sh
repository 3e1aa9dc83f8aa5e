#!/usr/bin/env bash
# compare_test.sh ROOT: benchmarks/compare, with builds that are scripts, runs both in turn, tells near cores from far ones,
# and says what is missing.
set -euo pipefail
root=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build() { # NAME RATE
  mkdir -p "$folder/$1/bin"
  cat > "$folder/$1/bin/viaduct-run" <<END
#!/bin/sh
echo "$1 \$*" >> "$folder/order"
n=\$(grep -c "^$1 " "$folder/order")
for last; do :; done
[ \$n -eq 2 ] && distance=250 || distance=50
printf '{"figures": {"hand_over_ns": {"median": %s}, "rate_mps": {"median": %s}}}' \$distance \$(($2 + n)) > "\$last"
END
  cp "$folder/$1/bin/viaduct-run" "$folder/$1/bin/logp"
  chmod +x "$folder/$1/bin/"*
}
build before 100
build now 200
"$root/benchmarks/compare" "$folder/before" "$folder/now" logp --runs 3 -- --rounds 3 > "$folder/out" 2> /dev/null
cat "$folder/out"
[ "$(cut -d' ' -f1 "$folder/order" | tr '\n' ' ')" = "before now before now before now " ]
grep -q -- "-n 2 --bind .*/before/bin/logp --rounds 3 --json" "$folder/order"
# Near: runs 1 and 3, whose medians are 102 and 202; far: run 2.
grep -Eq "^rate_mps +near +102 +202 +1.98  2, 2$" "$folder/out"
grep -Eq "^rate_mps +far +102 +202 +1.98  1, 1$" "$folder/out"
! "$root/benchmarks/compare" "$folder/before" "$folder/now" vi 2> "$folder/error"
grep -q "there is no .*/before/bin/vi: build it first" "$folder/error"
# All runs of one build are near, and all of the other are far.
sed -i 's/\[ \$n -eq 2 \]/[ -e far ]/' "$folder/before/bin/viaduct-run"
sed -i 's/\[ \$n -eq 2 \]/[ ! -e far ]/' "$folder/now/bin/viaduct-run"
! "$root/benchmarks/compare" "$folder/before" "$folder/now" logp --runs 2 > "$folder/out" 2> "$folder/error"
grep -q "4 figures are left out" "$folder/error"
grep -q "no figure was measured by both builds" "$folder/error"
printf '#!/bin/sh\nexit 3\n' > "$folder/now/bin/viaduct-run"
! "$root/benchmarks/compare" "$folder/before" "$folder/now" logp 2> "$folder/error" > /dev/null
grep -q "ended with 3" "$folder/error"
