#!/usr/bin/env bash
# verbs.sh VIADUCT_RUN RULES PAIR: both on provider verbs, on the device that soft-verbs.sh has made.
set -euo pipefail
export VIADUCT_PROVIDER=verbs
"$2"
"$1" -n 2 --timeout 60 "$3"
