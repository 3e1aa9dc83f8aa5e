#!/usr/bin/env python3
"""Runs every command that the documents show, as it stands there, from clean directories.

run_commands.py ROOT BUILD [--long] [--only DOCUMENT] [--list]

  ROOT    the checkout; its files are copied into a clean folder, in which build/release (and build/dev) is BUILD
  --long  nothing is built beforehand: runs the commands marked `long` too, so that build/release is what they build

Commands are the lines of blocks that open with ```sh in README.md, CONTRIBUTING.md, docs/ and the README.md files of
examples/, and the indented commands in the comment that opens an example. A block that opens with a language and a file
name (```cpp question.cpp) is that file, in ~/programs. The commands of one document run one after another in one shell,
which begins in ~/programs when the document has files, else in the checkout. HOME is a clean folder; README.md comes first,
so that what it installs is there for the others.

exceptions.txt names the commands that are not run, or only with --long, each with its reason; an exception that names no
command is an error. So is a command in an indented block, which would not be seen here.

Exit status: 0 all is well, 1 a command failed or is not as it should be, 2 an error, 77 a program for it is missing."""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MOST_SECONDS = 120
LOOKS_LIKE_COMMAND = re.compile(r" {4}(?:[A-Z_]+=\S* )*(?:viaduct-|cmake|ctest|splitcc|c\+\+|cc |g\+\+|mpirun|srun|gdb|chrt|"
                                r"valgrind|make|\./|PREFIX/|build/|tests/|\.ci/|tools/|export )")
EXAMPLE_COMMAND = re.compile(r"(?://| \*) {4,}((?:viaduct-run|splitcc) .*?)(?: {4,}\[.*)?$")


class Document:
    """Commands as (line, text), files as {name: text}."""

    def __init__(self, root, path):
        self.name = str(path.relative_to(root))
        self.commands, self.files, self.wrong = [], {}, []
        text = path.read_text()
        if path.suffix == ".md":
            self.read_markdown(text.splitlines())
        else:
            self.read_example(text.splitlines())

    def read_markdown(self, lines):
        block, begin, blank = None, 0, True
        for number, line in enumerate(lines, 1):
            if block is None and line.startswith("```"):
                block, begin = line[3:].split(), number
                body = []
            elif block is not None and line.startswith("```"):
                self.take(block, begin, body)
                block = None
            elif block is not None:
                body.append(line)
            elif blank and LOOKS_LIKE_COMMAND.match(line):
                self.wrong.append(f"{self.name}:{number}: a command in an indented block: put it between ```sh and ```")
            blank = not line

    def take(self, words, begin, body):
        if words[:1] == ["sh"]:
            start, command = 0, ""
            for number, line in enumerate(body, begin + 1):
                start = start or number
                command += line
                if line.endswith("\\"):
                    command += "\n"
                    continue
                if command.strip() and not command.lstrip().startswith("#"):
                    self.commands.append((start, command))
                start, command = 0, ""
        elif len(words) >= 2 and words[-1] != "run":
            self.files[words[-1]] = "\n".join(body) + "\n"

    def read_example(self, lines):
        for number, line in enumerate(lines, 1):
            if found := EXAMPLE_COMMAND.match(line):
                self.commands.append((number, found.group(1)))
            elif not re.match(r"//| ?\*|/\*", line):
                return


def documents(root):
    first = [root / "README.md", root / "CONTRIBUTING.md"]
    found = [path for pattern in ("docs/**/*.md", "examples/**/README.md", "examples/**/*.cpp", "examples/**/*.sc")
             for path in sorted(root.glob(pattern))]
    return [document for document in (Document(root, path) for path in first + found)
            if document.commands or document.wrong]


class Exceptions:
    """Which commands are not run: document, beginning of the command, `never` or `long`, reason."""

    def __init__(self, path):
        self.rows, self.used = [], set()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) != 4 or cells[2] not in ("never", "long") or not cells[3]:
                sys.exit(f"{path}:{number}: not DOCUMENT | COMMAND | never or long | REASON")
            self.rows.append((number, *cells))

    def when(self, document, command):
        for number, name, start, when, _ in self.rows:
            whole = re.sub(r" +#.*", "", command) + "$"
            if name == document and (command.startswith(start) or whole == start):
                self.used.add(number)
                return when
        return "always"

    def unused(self, names):
        return [f"exceptions.txt:{number}: {name} has no command that begins with '{start}'"
                for number, name, start, _, _ in self.rows if name in names and number not in self.used]


def clean_folder(root, build, work, long):
    """A copy of the checkout and a home."""
    checkout = work / "viaduct"
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        sys.exit(f"{root} is no checkout: {listed.stderr}")
    for name in listed.stdout.split("\0"):
        if name and (root / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, checkout / name)
    (checkout / "build").mkdir()
    if not long:
        (checkout / "build/release").symlink_to(build)
        (checkout / "build/dev").symlink_to(build)
    (work / "home/programs").mkdir(parents=True)
    return checkout


def run(document, chosen, checkout, home):
    """None, or what went wrong."""
    programs = home / "programs"
    for old in programs.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    for name, text in document.files.items():
        (programs / name).write_text(text)
    inside = document.files and not any("cd ~/programs" in command for _, command in chosen)
    script = ["set -e -o pipefail", f"cd '{programs if inside else checkout}'"]
    for line, command in chosen:
        script += [f"echo {line} >&3", command]
    script += ["wait", "echo done >&3"]
    environment = {
        "HOME": str(home), "PATH": f"{home}/viaduct/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8",
        "PKG_CONFIG_PATH": f"{home}/viaduct/lib/pkgconfig", "TERM": "dumb", "CCACHE_NOHASHDIR": "1",
        "CCACHE_DIR": os.environ.get("CCACHE_DIR", str(pathlib.Path.home() / ".cache/ccache")),
        # A container's root, and a machine with two cores.
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    with tempfile.TemporaryFile("w+") as place, tempfile.TemporaryFile("w+") as output:
        # A session of its own, so that all that a command started can be ended.
        shell = subprocess.Popen(["bash", "-c", 'exec 3>&"$1"; eval "$2"', "bash", str(place.fileno()), "\n".join(script)],
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment,
                                 pass_fds=[place.fileno()], start_new_session=True)
        try:
            how = f"exit status {shell.wait(timeout=MOST_SECONDS * (15 if LONG else 1))}"
        except subprocess.TimeoutExpired:
            how = "the time is up"
        finally:
            if shell.poll() is None:
                os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
        place.seek(0)
        reached = place.read().split()
        if reached[-1:] == ["done"] and how == "exit status 0":
            return None
        output.seek(0)
        end = "\n".join(output.read().splitlines()[-15:])
        command = dict((str(line), text) for line, text in chosen).get(reached[-1] if reached else "", "")
        return f"{document.name}:{reached[-1] if reached else '?'}: {command}\n{how}:\n{end}"


def main():
    global LONG
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", action="append", help="beginning of a document's path; README.md always runs")
    parser.add_argument("--list", action="store_true", help="print the commands and when they run")
    options = parser.parse_args()
    LONG = options.long
    root, build = options.root.resolve(), options.build.resolve()

    exceptions = Exceptions(root / "tests/commands/exceptions.txt")
    every = documents(root)
    wrong = [sentence for document in every for sentence in document.wrong]
    plan = [(document, [(line, command, exceptions.when(document.name, command)) for line, command in document.commands])
            for document in every]
    wrong += exceptions.unused({document.name for document in every})
    if options.list:
        for document, commands in plan:
            for line, command, when in commands:
                print(f"{when:6} {document.name}:{line}: {command}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            checkout = clean_folder(root, build, work, LONG)
            for document, commands in plan:
                if options.only and document.name != "README.md" and not document.name.startswith(tuple(options.only)):
                    continue
                chosen = [(line, command) for line, command, when in commands
                          if when == "always" or (when == "long" and LONG)]
                begin = time.monotonic()
                problem = run(document, chosen, checkout, work / "home") if chosen else None
                print(f"{time.monotonic() - begin:6.1f} s  {document.name}: {len(chosen)} commands", flush=True)
                if problem:
                    wrong.append(problem)
                    if document.name == "README.md":
                        break
    print(f"{sum(len(commands) for _, commands in plan)} commands in {len(plan)} documents, "
          f"{sum(when == 'never' for _, commands in plan for _, _, when in commands)} of them never run here, "
          f"{sum(when == 'long' for _, commands in plan for _, _, when in commands)} in the long test")
    for sentence in wrong:
        print(sentence)
    return 1 if wrong else 0


LONG = False
if __name__ == "__main__":
    sys.exit(main())
