#!/bin/sh
# usage: precompile.sh COMMAND... -o FILE ...
# Compiles a header by COMMAND, and writes a checksum of the result into FILE.sum. ccache hashes that small file for each
# source that includes the header, where it would read the result: 110 MB (its setting pch_external_checksum).
set -eu
"$@"
while [ "$1" != -o ]; do shift; done
sha256sum <"$2" >"$2.sum"
