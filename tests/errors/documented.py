#!/usr/bin/env python3
"""documented.py VIADUCT_INFO PAGE [--update]: the page has the error catalogue as viaduct-info explains it.

--update writes the page's list anew, to be read before it is committed.
"""
import difflib
import re
import subprocess
import sys

BEGIN, END = "<!-- made by tests/errors/documented.py -->\n", "<!-- end of the catalogue -->\n"
ENTRY = re.compile(r"(VIA-(\d)\d{3}) \((.*)\)\n  Cause:  (.*)\n  Remedy: (.*)\n")
LAYERS = {"0": "The runtime, and what all layers share", "1": "viaduct-run", "2": "The VI layer and its providers",
          "3": "Active Messages", "4": "Split-C's global memory", "5": "Programs that splitcc has made"}


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


def tables(entries):
    text, layer = "", None
    for code, digit, name, cause, remedy in entries:
        if digit != layer:
            layer = digit
            text += f"\n### {LAYERS[digit]}\n\n| code | name | cause | remedy |\n|---|---|---|---|\n"
        text += f"| {code} | {name} | {cell(cause)} | {cell(remedy)} |\n"
    return text + "\n"


def explained(info, *codes):
    return subprocess.run([info, "explain", *codes], stdout=subprocess.PIPE, text=True, check=True).stdout


def main():
    info, path = sys.argv[1:3]
    said = explained(info)
    entries = ENTRY.findall(said)
    if len(entries) < 50 or len(entries) * 3 != said.count("\n"):
        print(f"{len(entries)} entries are understood in:\n{said}")
        return 1
    for form in ("VIA-0101", "via-0101", "[VIA-0101]", "101"):
        if explained(info, form) != "\n".join(said.splitlines()[:3]) + "\n":
            print(f"viaduct-info explain {form} says something else than the list")
            return 1
    with open(path, encoding="utf-8") as page:
        old = page.read()
    before, rest = old.split(BEGIN)
    new = before + BEGIN + tables(entries) + END + rest.split(END)[1]
    if "--update" in sys.argv:
        with open(path, "w", encoding="utf-8") as page:
            page.write(new)
        old = new
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, "viaduct-info"))
    print(f"{len(entries)} codes")
    return 0 if old == new else 1


if __name__ == "__main__":
    sys.exit(main())
