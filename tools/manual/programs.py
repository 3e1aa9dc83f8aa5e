#!/usr/bin/env python3
"""Man pages and completion of the programs, from their own option tables.

programs.py MAN_FOLDER COMPLETION_FOLDER DATE VERSION PROGRAM...

MAN_FOLDER/NAME.1, COMPLETION_FOLDER/bash/NAME and COMPLETION_FOLDER/zsh/_NAME come from what `PROGRAM --list-options` prints
(runtime/program/command_line.hpp); of splitcc, whose options are gcc's, from `PROGRAM --help`."""

import dataclasses
import pathlib
import re
import subprocess
import sys

from man_pages import roff

WORDS = {"splitcc": "Compiles Split-C and links it with the Viaduct runtime"}
FILES = re.compile(r"FILE|PATH|FOLDER|PROGRAM|IMAGE")


@dataclasses.dataclass
class Option:
    command: str
    names: list
    value: str    # TYPE, or nothing
    default: str
    help: str

    @property
    def words(self):
        """What the value may be, where that is a list of words."""
        found = re.search(r"\{([^}]*)\}", self.value)
        return found.group(1).split(",") if found else []

    @property
    def type(self):
        return re.sub(r":?[{\[].*", "", self.value)


@dataclasses.dataclass
class Program:
    name: str
    about: str
    footer: str
    options: list
    commands: list  # (name, description)

    def of(self, command):
        return [one for one in self.options if one.command == command]


def printed(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def from_table(path):
    name = pathlib.Path(path).name
    program = Program(name, "", "", [], [])
    for line in printed(path, "--list-options").splitlines():
        kind, *cells = line.split("\t")
        if kind == "program":
            program.about, program.footer = cells[1].rstrip("."), cells[2]
        elif kind == "option":
            program.options.append(Option(cells[0], cells[1].split(","), *cells[2:]))
        elif kind == "command":
            program.commands.append((cells[0], cells[1]))
    return program


def from_help(path):
    """Lines of --help: two spaces, the option, two spaces or more, the text; deeper lines go on."""
    name = pathlib.Path(path).name
    program = Program(name, WORDS[name], "", [], [])
    for line in printed(path, "--help").splitlines():
        if found := re.match(r"^  (-\S.*?)(?: {2,}(\S.*))?$", line):
            names, text = found.group(1), found.group(2) or ""
            value = "FILE" if re.search(r" FILE$", names) else "LANGUAGE" if names.endswith(" LANGUAGE") else ""
            program.options.append(Option("", names.removesuffix(f" {value}").replace(", ", " ").split(" "), value, "", text))
        elif program.options and re.match(r"^ {10,}\S", line):
            program.options[-1].help += " " + line.strip()
    return program


def sentence(text):
    return text if text.endswith((".", ")")) or not text else text + "."


def man_option(one):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in one.names)
    value = f" \\fI{roff(one.type)}\\fR" if one.type else ""
    yield f".TP\n{names}{value}"
    text = sentence(one.help)
    if one.words:
        text += f" One of {', '.join(one.words)}."
    if one.default:
        text += f" Default: {one.default}."
    yield roff(text) or "As for gcc."


def man_page(program, date, version):
    name = roff(program.name)
    arguments = " ".join(f"\\fI{roff(one.names[0])}\\fR" for one in program.of("") if not one.names[0].startswith("-"))
    yield f'.TH {name.upper()} 1 "{date}" "viaduct {version}" "Viaduct"'
    yield f".SH NAME\n{name} \\- {roff(program.about[:1].lower() + program.about[1:])}"
    rest = {"viaduct-run": " \\fIPROGRAM\\fR [\\fIARGUMENTS\\fR]", "splitcc": " \\fIFILE\\fR..."}.get(program.name, "")
    yield f".SH SYNOPSIS\n\\fB{name}\\fR [\\fIOPTIONS\\fR]{' ' + arguments if arguments else ''}{rest}"
    yield f".SH DESCRIPTION\n{roff(sentence(program.about))}"
    yield ".SH OPTIONS"
    for one in program.of(""):
        yield from man_option(one)
    if program.commands:
        yield ".SH COMMANDS"
    for command, text in program.commands:
        yield f".SS {roff(command)}\n{roff(sentence(text))}"
        for one in program.of(command):
            yield from man_option(one)
    if program.footer:
        yield f".SH NOTES\n{roff(program.footer.strip())}"
    yield ".SH SEE ALSO\nThe manual of Viaduct, in its folder of documents"


def bash(program):
    """The options of the command that stands on the line already; words for values; files elsewhere."""
    function = "_" + re.sub(r"\W", "_", program.name)
    yield f"# bash completion of {program.name}, made from its option table."
    yield f"{function}() {{"
    yield "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i options"
    yield "  COMPREPLY=()"
    if program.commands:
        yield "  for ((i = 1; i < COMP_CWORD; i++)); do"
        yield f"    case ${{COMP_WORDS[i]}} in {'|'.join(name for name, _ in program.commands)}) command=${{COMP_WORDS[i]}} ;; esac"
        yield "  done"
    yield "  case $before in"
    for one in program.options:
        names = "|".join(name for name in one.names if name.startswith("-"))
        if one.words:
            yield f"    {names}) COMPREPLY=($(compgen -W '{' '.join(one.words)}' -- \"$word\")); return ;;"
        elif one.value and names:
            files = "-f" if FILES.search(one.type) else "-W ''"
            yield f"    {names}) COMPREPLY=($(compgen {files} -- \"$word\")); return ;;"
    yield "  esac"
    yield "  case $command in"
    for command in [""] + [name for name, _ in program.commands]:
        own = [name for one in program.of(command) for name in one.names if re.match(r"^-[\w=-]+$", name)]
        more = [name for name, _ in program.commands] if not command else []
        yield f"    {command or chr(39) * 2}) options='{' '.join(own + more)}' ;;"
    yield "  esac"
    yield "  COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))"
    yield "  [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- \"$word\"))"
    yield "}"
    yield f"complete -o filenames -F {function} {program.name}"


def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(one):
    for name in one.names:
        if not re.match(r"^-[\w=-]+$", name):
            continue
        value = ""
        if one.words:
            value = f":{zsh_text(one.type.lower() or 'value')}:({' '.join(one.words)})"
        elif one.value:
            value = f":{zsh_text(one.type.lower())}:{'_files' if FILES.search(one.type) else ' '}"
        yield f"    '{name}[{zsh_text(one.help)}]{value}' \\"


def zsh(program):
    yield f"#compdef {program.name}"
    yield f"# zsh completion of {program.name}, made from its option table."
    if program.commands:
        yield "local -a commands=("
        for name, text in program.commands:
            yield f"  '{name}:{zsh_text(text)}'"
        yield ")"
    yield "_arguments \\"
    for one in program.options:
        yield from zsh_option(one)
    if program.commands:
        yield "    '1:command:{ _describe command commands }' \\"
    yield "    '*:file:_files'"


def main():
    man, completion, date, version, *paths = sys.argv[1:]
    man, completion = pathlib.Path(man), pathlib.Path(completion)
    for folder in (man, completion / "bash", completion / "zsh"):
        folder.mkdir(parents=True, exist_ok=True)
    for path in paths:
        program = from_help(path) if pathlib.Path(path).name in WORDS else from_table(path)
        if not program.options:
            sys.exit(f"{path} lists no options")
        (man / f"{program.name}.1").write_text("\n".join(man_page(program, date, version)) + "\n")
        (completion / "bash" / program.name).write_text("\n".join(bash(program)) + "\n")
        (completion / "zsh" / f"_{program.name}").write_text("\n".join(zsh(program)) + "\n")


if __name__ == "__main__":
    main()
