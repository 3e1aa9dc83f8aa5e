#!/usr/bin/env python3
"""Man pages of the C++ interfaces: man_pages.py FOLDER DATE VERSION INCLUDE=HEADER...

Each header becomes FOLDER/viaduct-GROUP.3, with what its comments say of each function. Each name leads to it: man
splitc::all_store_sync. FOLDER/viaduct.3 lists the groups. INCLUDE is how a program includes the header."""

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
    yield ".SH SEE ALSO\nviaduct(3), viaduct\\-run(1), viaduct\\-info(1); the manual, in the folder of documents"


def overview(groups, date, version):
    """What `man viaduct` shows: how programs are built, and which pages there are."""
    yield f'.TH VIADUCT 3 "{date}" "viaduct {version}" "Viaduct"'
    yield ".SH NAME\nviaduct \\- Active Messages and Split\\-C's global memory for C++20"
    yield ".SH SYNOPSIS\n.nf"
    for program, package in (("messages", "viaduct"), ("memory", "viaduct-splitc")):
        yield roff(f"c++ -std=c++20 {program}.cpp $(pkg-config --cflags --libs {package}) -o {program}")
    yield roff("splitcc -O2 program.sc -o program") + "\n" + roff("viaduct-run -n 4 ./program") + "\n.fi"
    yield ".SH DESCRIPTION"
    yield roff("A program of Active Messages includes viaduct/am.hpp and viaduct/job.hpp. A program of Split-C in C++ includes "
               "viaduct/splitc.hpp and defines splitc_main() in the place of main(). The pages below have the functions of one "
               "header each. man also finds a function by its name, with am::, splitc:: or viaduct:: before it: man "
               "am::Endpoint::call, man splitc::all_store_sync.")
    for group in groups:
        yield f".TP\n.BR viaduct\\-{roff(group.name)} (3)\n{roff(about(group)[0])}"
    yield ".SH SEE ALSO\nviaduct\\-run(1), viaduct\\-info(1), splitcc(1); in C: AM_Init(3), VipOpenNic(3)"


def aliases(group):
    names = {one.full_name for one in group.items}
    return sorted(name if name.startswith(("am::", "splitc::")) else f"viaduct::{name}" for name in names)


def main():
    folder, date, version, *pairs = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    taken, groups = {}, []
    for pair in pairs:
        include, path = pair.split("=", 1)
        group = headers.read(path, include)
        if not group.items or not group.about:
            sys.exit(f"{path} has no documented name, or no @file comment")
        groups.append(group)
        name = f"viaduct-{group.name}.3"
        (folder / name).write_text("\n".join(page(group, date, version)) + "\n")
        for alias in aliases(group):
            if taken.setdefault(alias, name) == name:
                (folder / f"{alias}.3").write_text(f".so man3/{name}\n")
    (folder / "viaduct.3").write_text("\n".join(overview(groups, date, version)) + "\n")


if __name__ == "__main__":
    main()
