#!/usr/bin/env python3
"""wrong.py SPLITCC VIADUCT_RUN PROGRAMS FOLDER DOCUMENT [--update]: wrong programs get the answers that the document says.

Each file of PROGRAMS is a program with one mistake: its first line says which, `/* here */` marks the line.  Each answer
must name that line, and say a rule or a remedy besides the mistake itself.  `/* Answer: link */` and `/* Answer: run 2 */`
say that it comes when the program is linked, or run with two processes; else the compiler gives it.

The document's tables are made of the answers.  --update writes them anew, to be read before they are committed.
"""
import concurrent.futures
import difflib
import glob
import os
import re
import subprocess
import sys

TOPICS = ["with pointers", "with PROCS", "with spread arrays", "with split-phase access", "with atomic",
          "with the library", "at run time"]
BEGIN, END = "<!-- made by tests/splitcc/wrong.py -->\n", "<!-- end -->\n"
SAID = re.compile(r"^(?P<file>[^:\s]+\.sc):(?P<line>\d+)(?::\d+)?: (?P<kind>error|warning|note): (?P<text>.*)$")
LIMIT = 280  # seconds, which only a hang reaches


class Wrong(Exception):
    """What is not as it should be."""


class Program:
    def __init__(self, path):
        self.name = os.path.basename(path)
        with open(path, encoding="ascii") as source:
            self.lines = source.read().splitlines()
        first = re.fullmatch(r"/\* Mistake ((?:with|at) [^:]+): (.+) \*/", self.lines[0])
        if first is None or first[1] not in TOPICS:
            raise Wrong(f"{self.name}: the first line says no mistake of a known topic")
        self.topic, self.mistake = first.groups()
        how = re.fullmatch(r"/\* Answer: (\w+) ?(\d*) \*/", self.lines[1])
        self.how, self.ranks = how.groups() if how else ("compile", "")
        marked = [i for i, line in enumerate(self.lines) if line.endswith("/* here */")]
        if len(marked) != 1:
            raise Wrong(f"{self.name}: {len(marked)} lines are marked")
        self.line = marked[0] + 1
        self.code = self.lines[marked[0]].replace("/* here */", "").strip()
        self.answer = self.remedy = ""


def output_of(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT, check=False)
    return done.returncode, done.stdout


def judge_compiler(program, code, said):
    messages = [m for m in map(SAID.match, said.splitlines()) if m]
    if not messages:
        raise Wrong(f"{program.name}: nothing is said:\n{said}")
    for m in messages:
        if m["file"] != program.name or int(m["line"]) != program.line:
            raise Wrong(f"{program.name}: line {program.line} is wrong, the answer is about another:\n{said}")
    if (messages[0]["kind"] == "error") != (code != 0):
        raise Wrong(f"{program.name}: the exit code {code} does not fit:\n{said}")
    if len(messages) < 2 or messages[1]["kind"] != "note":
        raise Wrong(f"{program.name}: no rule or remedy is said:\n{said}")
    program.answer = f"{messages[0]['kind']}: {messages[0]['text']}"
    program.remedy = messages[1]["text"]


def judge_run(program, code, said):
    """Whichever process says it, with the line in its sentence."""
    place = f"{program.name}:{program.line}"
    sentences = sorted(line for line in said.splitlines() if line.startswith("viaduct: [rank "))
    if code == 0 or not sentences or any(place not in line for line in sentences):
        raise Wrong(f"{program.name}: code {code}, and a process does not name {place}:\n{said}")
    head, _, rule = sentences[0].rpartition(": ")
    program.answer, program.remedy = head.split("] ", 1)[1], rule


def ask(program, splitcc, run, programs, folder):
    made = os.path.join(folder, program.name[:-3])
    command = [splitcc, program.name, "-o", made]
    if program.how == "compile":
        command.insert(1, "-c")
    code, said = output_of(command, programs)
    if program.how != "run":
        judge_compiler(program, code, said)
        return
    if code != 0:
        raise Wrong(f"{program.name} does not compile:\n{said}")
    judge_run(program, *output_of([run, "-n", program.ranks, "--timeout", str(LIMIT - 10), made], folder))


def cell(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


def tables(programs):
    text = ""
    for topic in TOPICS:
        text += f"\n## Mistakes {topic}\n\n| mistake | the line | the answer | rule and remedy |\n|---|---|---|---|\n"
        for p in (p for p in programs if p.topic == topic):
            text += f"| {p.mistake} | `{p.code}` | {cell(p.answer)} | {cell(p.remedy)} |\n"
    return text + "\n"


def main():
    splitcc, run, source, folder, document = sys.argv[1:6]
    os.makedirs(folder, exist_ok=True)
    programs = [Program(path) for path in sorted(glob.glob(os.path.join(source, "*.sc")))]
    failures = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(ask, p, splitcc, run, source, folder) for p in programs]:
            try:
                future.result()
            except (Wrong, subprocess.TimeoutExpired) as failure:
                failures.append(str(failure))
    for failure in failures:
        print("wrong.py:", failure, file=sys.stderr)
    if failures or not programs:
        return 1
    with open(document, encoding="utf-8") as page:
        old = page.read()
    before, rest = old.split(BEGIN)
    new = before + BEGIN + tables(programs) + END + rest.split(END)[1]
    if "--update" in sys.argv:
        with open(document, "w", encoding="utf-8") as page:
            page.write(new)
        old = new
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), document, "answers"))
    print(f"{len(programs)} wrong programs")
    return 0 if old == new else 1


if __name__ == "__main__":
    sys.exit(main())
