#!/usr/bin/env bash
# links_selftest.sh LINKS: links.py finds a file and a heading that are not there, in Markdown and in HTML.
set -euo pipefail
links=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
says() { # STATUS WORDS [FOLDER]
  local status=0 said
  said=$("$links" "$folder" "${@:3}") || status=$?
  [ "$status" -eq "$1" ] && grep -qF -- "$2" <<<"$said" || { echo "links_selftest: wanted $1, '$2': $status $said"; exit 1; }
}
printf '# A `b`: c\n\n[x](#a-b-c) [y](b.md#here) `[z](none.md)`\n\n```\n[z](none.md)\n```\n' >"$folder/a.md"
printf '# Here\n\n[outside](https://example.org/)\n' >"$folder/b.md"
says 0 '2 links in 2 files, 0 broken'
printf '[x](b.md#gone)\n' >>"$folder/a.md"
says 1 'a.md:8: b.md#gone: no such heading'
printf '[x](c.md)\n' >"$folder/a.md"
says 1 'a.md:1: c.md: no such file'
printf '<h1 id="top"></h1><a href="b.html#top">x</a><img src="p.png">' >"$folder/a.html"
printf '<h1 id="top"></h1>' >"$folder/b.html"
says 1 'a.html:1: p.png: no such file' "$folder"
printf '<a href="b.html#bottom">x</a>' >"$folder/a.html"
says 1 'b.html#bottom: no such heading' "$folder"
