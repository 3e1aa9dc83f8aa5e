#!/usr/bin/env python3
"""glossary_test.py ROOT [PAGE]: every entry of docs/glossary.md is one line of its form, the entries are in alphabetical
order, and each term occurs in the sources or in another document."""

import pathlib
import re
import sys

ENTRY = re.compile(r"- \*\*([A-Za-z][A-Za-z -]*)\*\*: \S.*\.")
WHERE = ("README.md", "CONTRIBUTING.md", "docs", "runtime", "via", "am", "splitc", "tests/soft-verbs")
LEAST = 50  # entries: a page with fewer is not the glossary any more


def plain(text):
    return re.sub(r"[\s_/-]+", " ", text).lower()


def texts(root, page):
    """What is read besides the glossary: names, comments and prose."""
    for place in WHERE:
        path = root / place
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.suffix in (".hpp", ".cpp", ".md") and file != page:
                yield file.read_text(errors="replace")


def main():
    root = pathlib.Path(sys.argv[1])
    page = root / (sys.argv[2] if len(sys.argv) > 2 else "docs/glossary.md")
    problems, terms = [], []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("- "):
            continue
        entry = ENTRY.fullmatch(line)
        if entry is None:
            problems.append(f"{page}:{number}: not of the form '- **term**: explanation.'")
            continue
        term = entry.group(1)
        if terms and term.lower() <= terms[-1].lower():
            problems.append(f"{page}:{number}: '{term}' stands behind '{terms[-1]}'")
        terms.append(term)
    if len(terms) < LEAST:
        problems.append(f"{page} has {len(terms)} entries: what has become of the others?")
    text = " ".join(texts(root, page))
    # Names of types run their words together: ReceiverLine.
    spoken = plain(text) + " " + plain(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    problems += [f"{page}: nothing else uses the term '{term}'" for term in terms if plain(term) not in spoken]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
