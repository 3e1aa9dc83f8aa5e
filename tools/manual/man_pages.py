#!/usr/bin/env python3
"""Man pages of the C++ interfaces: man_pages.py FOLDER DATE VERSION INCLUDE=HEADER...

Each header becomes FOLDER/viaduct-GROUP.3, with what its comments say of each function. Each name leads to it: man
splitc::all_store_sync. INCLUDE is how a program includes the header."""

import pathlib
import re
import sys

import headers


def roff(text):
    """Text of a page: nothing in it is a request."""
    text = re.sub(r"(?<![\w*])\*(\w[^*]*)\*(?![\w*])", r"\1", text)  # emphasis
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\\&" + text if text[:1] in ".'" else text


def contract(part):
    if part.key == "@return":
        before, rows = headers.statuses(part)
        yield ".TP\nReturns"
        yield roff(before or "one of these:")
        for status, meaning in rows:
            yield ".RS\n.TP"
            yield f"{roff(status)}\n{roff(meaning)}\n.RE"
    elif part.key:
        yield f".TP\n{part.key}\n{roff(part.text)}"
    else:
        yield f".PP\n{roff(part.text)}"


def item(one):
    yield f".SS {roff(one.full_name)}"
    yield ".nf"
    for line in one.declaration.split("\n"):
        yield roff(line) if line.strip() else ""
    yield ".fi"
    for part in headers.parts(one.comment):
        yield from contract(part)


def about(group):
    text = " ".join(" ".join(group.about).split())
    first, _, rest = text.partition(". ")
    return first.rstrip("."), rest


def page(group, date, version):
    first, rest = about(group)
    yield f'.TH VIADUCT\\-{roff(group.name.upper())} 3 "{date}" "viaduct {version}" "Viaduct"'
    yield f".SH NAME\nviaduct\\-{roff(group.name)} \\- {roff(first[:1].lower() + first[1:])}"
    yield f".SH SYNOPSIS\n.nf\n#include <{group.header}>\n.fi"
    yield ".SH DESCRIPTION"
    yield roff(rest or "Each name below is in namespace viaduct.")
    scopes = sorted({one.full_name for one in group.items if one.kind == "type" and len(one.comment) > 3})
    if scopes:
        yield ".PP\n" + roff("Types: " + ", ".join(scopes) + ".")
    for one in group.items:
        yield from item(one)
    yield ".SH SEE ALSO\nThe manual of Viaduct, in its folder of documents; viaduct\\-run(1), viaduct\\-info(1)"


def aliases(group):
    names = {one.full_name for one in group.items}
    return sorted(name if name.startswith(("am::", "splitc::")) else f"viaduct::{name}" for name in names)


def main():
    folder, date, version, *pairs = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    taken = {}
    for pair in pairs:
        include, path = pair.split("=", 1)
        group = headers.read(path, include)
        if not group.items or not group.about:
            sys.exit(f"{path} has no documented name, or no @file comment")
        name = f"viaduct-{group.name}.3"
        (folder / name).write_text("\n".join(page(group, date, version)) + "\n")
        for alias in aliases(group):
            if taken.setdefault(alias, name) == name:
                (folder / f"{alias}.3").write_text(f".so man3/{name}\n")


if __name__ == "__main__":
    main()
