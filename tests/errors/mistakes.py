#!/usr/bin/env python3
"""mistakes.py VIADUCT_RUN DOCUMENT SOURCE=PROGRAM... [--update]: typical mistakes get the answers that the page says.

A source marks each mistake by `Mistake: TEXT` in a comment before a function, whose name is the program's argument, and
the line by a comment `here`; `Ranks: N` says with how many ranks it is run (2; 0: without viaduct-run).  The answer is the
first sentence of the first rank that has one; it must have a code.  A rank that tells of the loss of another one, before
it is ended itself, is asked last.  The document's tables are made of the answers.
--update writes them anew, to be read before they are committed.
"""
import concurrent.futures
import difflib
import os
import re
import subprocess
import sys

HEADS = {"mistakes.cpp": "In C++", "mistakes_checked.cpp": "In C++ with Split-C, in checked mode",
         "mistakes.sc": "In Split-C"}
BEGIN, END = "<!-- made by tests/errors/mistakes.py -->\n", "<!-- end of the mistakes -->\n"
MISTAKE = re.compile(r"(?://|/\*) Mistake: (.*?)(?: \*/)?\n(?:// Ranks: (\d)\n)?void (\w+)\(")
HERE = re.compile(r"(?://|/\*) here(?: \*/)?")
SAID = re.compile(r"^viaduct: (?:\[rank (\d+)\] )?(?:(?:error|warn): )?(.* \[VIA-\d{4}\])$")
# What differs between runs, compilers and folders.
SAME = [(r"\b0x[0-9a-f]+", "0x..."), (r"(\{anonymous\}|\(anonymous namespace\))::", ""),
        (r"[^ ]*/(?=mistakes\w*\.)", ""), (r": T ?&.* (?=\[VIA)", ": int ")]
LIMIT = 100  # seconds, which only a hang reaches


class Mistake:
    def __init__(self, source, match, text, begin, end):
        self.kind = os.path.splitext(source)[1]
        self.text, self.ranks, self.name = match[1], int(match[2] or "2"), match[3]
        lines = [line for line in text[begin:end].splitlines() if HERE.search(line)]
        if len(lines) != 1:
            raise SystemExit(f"mistakes.py: {source}: {self.name} has {len(lines)} marked lines")
        self.line = HERE.sub("", lines[0]).strip()
        if self.line.endswith("}") and "{" in self.line:
            self.line = self.line.split("{", 1)[1][:-1].strip()

    def answer(self, run, program):
        command = [program, self.name]
        if self.ranks:
            command = [run, "-n", str(self.ranks), "--timeout", str(LIMIT - 10), *command]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("VIADUCT_")}
        # Under the address sanitizer, too, the sentence about a wild access is Split-C's.
        environment["ASAN_OPTIONS"] = f"{environment.get('ASAN_OPTIONS', '')}:handle_segv=0"
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False)
        said = sorted((" is lost (" in m[2], m[1] or "", i, m[2])
                      for i, m in enumerate(map(SAID.match, done.stdout.splitlines())) if m)
        if not said:
            raise SystemExit(f"mistakes.py: {self.name}: no sentence with a code:\n{done.stdout}")
        answer = said[0][3]
        for pattern, same in SAME:
            answer = re.sub(pattern, same, answer)
        return answer


def mistakes_of(path):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    found = list(MISTAKE.finditer(text))
    # The marked line may stand in a handler before the comment: each mistake has what follows the one before it.
    ends = [text.index("\n}\n", m.start()) for m in found]
    return [Mistake(path, m, text, begin, end) for m, begin, end in zip(found, [0, *ends], ends)]


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


def main():
    run, document = sys.argv[1:3]
    programs = [argument.split("=", 1) for argument in sys.argv[3:] if argument != "--update"]
    text = ""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for source, program in programs:
            mistakes = mistakes_of(source)
            answers = pool.map(lambda m, program=program: m.answer(run, program), mistakes)
            text += f"\n### {HEADS[os.path.basename(source)]}\n\n| mistake | the line | the answer |\n|---|---|---|\n"
            for m, answer in zip(mistakes, answers):
                text += f"| {m.text} | `{m.line}` | {cell(answer)} |\n"
    with open(document, encoding="utf-8") as page:
        old = page.read()
    before, rest = old.split(BEGIN)
    new = before + BEGIN + text + "\n" + END + rest.split(END)[1]
    if "--update" in sys.argv:
        with open(document, "w", encoding="utf-8") as page:
            page.write(new)
        old = new
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), document, "answers"))
    rows = text.count("\n| ") - text.count("\n| mistake")
    print(f"{rows} mistakes")
    return 0 if old == new and rows >= 20 else 1


if __name__ == "__main__":
    sys.exit(main())
