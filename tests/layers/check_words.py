#!/usr/bin/env python3
"""check_words.py ROOT: names, comments and documents use the field's words.

Prints every line with a word that has been replaced, and the word that replaces it. Words that are ordinary English
elsewhere count only where they had a meaning of the project's own."""

import pathlib
import re
import subprocess
import sys

# Where: folders and files, by the beginnings of their paths; "" is everywhere.
LAYERS = ("runtime/", "via/", "am/", "splitc/", "compiler-shim/runtime/", "tools/", "docs/")
NETWORK = ("via/", "am/", "tests/verbs-vm/", "tests/fault/", "tests/conformance/",
           "docs/verbs.md", "docs/shm.md", "docs/am-protocol.md", "docs/channel.md", "docs/conformance.md",
           "docs/faults.md", "docs/life", "docs/decisions/")
LAUNCHER = ("runtime/", "docs/launch", "docs/architecture.md", "docs/faults.md", "tests/multiprocess/launcher")
EVERYWHERE = ("",)

def word(lower):
    """A whole word of prose, or a whole part of a name: after a letter only where a capital begins it."""
    capital = lower[0].upper() + lower[1:]
    return rf"(?<![A-Za-z]){lower}(?![A-Za-z])|{capital}(?![a-z])"


RULES = (
    (word("wired"), "remote, RemoteChannel", EVERYWHERE),
    (rf"(?:{word('wires?')})(?![ _]?[Ff]ormat)", "link; wire format for layouts of bytes", LAYERS),
    (rf"(?:{word('carriers?')})(?!-)", "transport, RdmaTransport", EVERYWHERE),
    (r"\bcarr(y|ied)_\w+|\w+_carr(y|ied)\b|\b[Cc]arried_?\b(?! (out|on|by|to|forward))|Carried[A-Z]",
     "transport, remote, checked", ("via/", "am/", "splitc/", "tests/unit/am/", "tests/unit/via/", "tests/verbs-vm/")),
    (word("letters?"), "control message", NETWORK),
    (word("mails?") + r"|\bpost[ _-]?box", "control path, mailbox", EVERYWHERE),
    (word("notes?"), "notification (of a link), notice (of Active Messages)", ("via/", "am/")),
    (word("bells?") + "|(?<![A-Za-z])hush", "doorbell, clear", EVERYWHERE),
    (word("keepers?"), "supervisor", EVERYWHERE),
    (rf"(?<!lock_)(?:{word('guards?')})", "watchdog", ("runtime/launcher/", "runtime/src/agent", "docs/launch")),
    (word("collectors?"), "CollectiveEngine", EVERYWHERE),
    (r"\bLine\b|\blines_|\bkLine\w+|\bsend_line\b|Op::line|line_words", "slot (of collectives)",
     ("splitc/detail/coll", "splitc/src/coll", "splitc/src/channel")),
    (r"\bsettle(_\w+)?\b|\bmet\(|\bmet\b(?= [!=]=|->)", "on_connected, check_connection", ("via/", "am/")),
    (word("meetings?"), "rendezvous", EVERYWHERE),
    (r"\w+_apart|\bapart\b(?! from)(?<!bytes apart)(?<!told apart)", "off-node, is_remote",
     ("splitc/", "docs/splitc.md", "tests/splitc/")),
    (r"\bParts\b|\bparts_\b|\bparts\(\)", "Impl", ("runtime/", "splitc/")),
    (r"\btake_stock\b|\bgiv(e|en)_(\w+_)?back\b|\b(held|hold)_back_?\b", "look_after_credits, return_to_sender, backlog",
     ("via/", "am/", "splitc/", "docs/", "tests/fault/", "tests/codegen/")),
    (word("nudge[sd]?"), "probe", EVERYWHERE),
    (r"(\.|->)way\b|\b(find|renew)_way\b|\bway_?\b(?= (!=|==|=))", "address handle",
     ("via/verbs/", "tests/soft-verbs/", "tests/verbs-vm/")),
    (word("zombies?"), "draining channel", EVERYWHERE),
    (word("seal(s|ed|ing)?"), "check word", EVERYWHERE),
    (r"VIADUCT_VERBS_WIRE_\w+", "VIADUCT_VERBS_LINK_...", EVERYWHERE),
    (r"VIADUCT_SPLITC_APART", "VIADUCT_SPLITC_OFF_NODE", EVERYWHERE),
    (word("strangers?"), "unauthenticated caller", LAYERS + ("tests/multiprocess/",)),
)

# History, this table and its like, and what is no text of the project's own.
LEFT_OUT = re.compile(r"CHANGELOG\.md|LICENSE|tests/layers/check_words|tests/scripts/facts|compiler-shim/splitcc/|"
                      r"tests/(splitcc|split-c|neg)/|examples/|am/src/modules\.cpp|docs/splitc-language\.md|docs/splitcc\.md")


def files(root):
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        path = root / name
        if not LEFT_OUT.match(name) and path.is_file() and not path.is_symlink():
            yield name, path


def findings(name, text):
    rules = [(re.compile(pattern), instead) for pattern, instead, where in RULES
             if any(name.startswith(place) for place in where)]
    for pattern, instead in rules:
        found = pattern.search(name)
        if found:
            yield f"{name}: the name has '{found.group(0)}': {instead}"
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in rules:
            found = pattern.search(line)
            if found:
                yield f"{name}:{number}: '{found.group(0)}': {instead}: {line.strip()[:110]}"


def main():
    root = pathlib.Path(sys.argv[1])
    count = 0
    for name, path in files(root):
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for finding in findings(name, text):
            print(finding)
            count += 1
    if count:
        print(f"{count} lines have a word that has been replaced")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
