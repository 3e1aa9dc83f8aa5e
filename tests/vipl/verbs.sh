#!/usr/bin/env bash
# verbs.sh VIADUCT_RUN PAIR RULES...: all on provider verbs, on the device that soft-verbs.sh has made.
set -euo pipefail
export VIADUCT_PROVIDER=verbs
for rules in "${@:3}"; do "$rules"; done
"$1" -n 2 --timeout 60 "$2"
