"""Reads the comments (///) of this project's public headers, with the declarations that they stand above."""

import dataclasses
import pathlib
import re

KEYS = ("Blocks", "Progress", "Call from", "Order", "Cost", "Errors", "Precondition", "Collective")
KEY = re.compile(rf"^({'|'.join(KEYS)})(?: {{2,}}|: )(.*)$")
SCOPE = re.compile(r"^(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*)?(?:alignas\([^)]*\)\s*)?(\w+)")
BASE = re.compile(r"^class\s+(\w+) : public (\w+)$")


@dataclasses.dataclass
class Item:
    scope: str        # without viaduct::, "am::Bundle"
    name: str         # "poll"
    kind: str         # function, type, value
    declaration: str  # as the header writes it, without a body
    comment: list     # lines, without ///

    @property
    def full_name(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


@dataclasses.dataclass
class Part:
    """A piece of a comment: a paragraph (key ""), a contract's entry (key "Blocks"), what is returned (key "@return")."""
    key: str
    lines: list

    @property
    def text(self):
        return " ".join(" ".join(self.lines).split())


@dataclasses.dataclass
class Group:
    """A header: what its @file comment says, and its items."""
    header: str  # as a program includes it
    about: list
    items: list

    @property
    def name(self):  # "am-bundle"
        return self.header.removesuffix(".hpp").removeprefix("viaduct/").replace("/", "-").replace("_", "-")


def parts(comment):
    """The parts of a comment's lines."""
    found, blank = [], True
    for line in comment:
        text = line.strip()
        key = KEY.match(text)
        if not text:
            blank = True
            continue
        if key:
            found.append(Part(key.group(1), [key.group(2)]))
        elif text.startswith("@return"):
            found.append(Part("@return", [text.removeprefix("@return").strip()]))
        elif "  @return " in f" {text}":
            before, after = text.split("  @return ", 1)
            add(found, before, blank)
            found.append(Part("@return", [after]))
        else:
            add(found, text, blank, line)
        blank = False
    for part in found:
        part.lines = [re.sub(r"@p (\w+)", r"`\1`", one) for one in part.lines]
    return found


def add(found, text, blank, line=""):
    deep = len(line) - len(line.lstrip()) > 4
    if not found or (blank and not deep) or (found[-1].key == "@return" and blank):
        found.append(Part("", [text]))
    else:
        found[-1].lines.append(text)


def statuses(part):
    """What @return says as [(status, meaning)] and the text before it, where it is such a list."""
    rows, before = [], []
    for line in part.lines:
        row = re.match(r"^(\w+) {2,}(\S.*)$", line)
        if row:
            rows.append([row.group(1), row.group(2)])
        elif rows:
            rows[-1][1] += " " + line
        else:
            before.append(line)
    return " ".join(before), rows


class Reader:
    def __init__(self, text):
        self.lines = text.splitlines()
        self.at = 0
        self.items, self.about, self.scopes = [], [], []  # scopes: [name or None, visible]
        self.bases = []  # (class, the class without a comment that it inherits functions from), with their scopes

    def visible(self):
        return all(visible for _, visible in self.scopes)

    def scope(self):
        return "::".join(name for name, _ in self.scopes if name and name != "viaduct")

    def read(self):
        comment = []
        while self.at < len(self.lines):
            stripped = self.lines[self.at].strip()
            if stripped.startswith("///"):
                comment.append(stripped[3:].removeprefix(" "))
                self.at += 1
            elif not stripped or stripped.startswith(("//", "#")):
                self.skip_preprocessor(stripped)
                self.keep_file_comment(comment)
                comment = []
            elif stripped in ("public:", "private:", "protected:"):
                self.scopes[-1][1] = stripped == "public:"
                self.at, comment = self.at + 1, []
            elif stripped.startswith("}"):
                if self.scopes:
                    self.scopes.pop()
                self.at, comment = self.at + 1, []
            else:
                self.keep_file_comment(comment) if comment and comment[0].startswith("@file") else None
                self.declaration(comment if comment and not comment[0].startswith("@file") else [])
                comment = []
        self.pass_on()
        return self

    def pass_on(self):
        """A class without a comment only groups functions: they are shown as those of the class that inherits them."""
        for derived, base in self.bases:
            if any(item.full_name == base for item in self.items):
                continue
            passed = [item for item in self.items if item.scope == base]
            rest = [item for item in self.items if item.scope != base]
            for item in passed:
                item.scope = derived
            for item in rest:
                if item.full_name == derived:
                    item.declaration = item.declaration.replace(f" : public {base.split('::')[-1]}", "")
            last = max((i for i, item in enumerate(rest) if item.scope == derived or item.full_name == derived), default=-1)
            self.items = rest[:last + 1] + passed + rest[last + 1:]

    def skip_preprocessor(self, stripped):
        while stripped.startswith("#") and stripped.endswith("\\"):
            self.at += 1
            stripped = "#" + self.lines[self.at].strip()
        self.at += 1

    def keep_file_comment(self, comment):
        if comment and comment[0].startswith("@file"):
            self.about = comment[1:]

    def declaration(self, comment):
        """One declaration: up to its ; or its body, which is left out unless it opens a scope."""
        begin, depth, text = self.at, 0, ""
        while self.at < len(self.lines):
            line = re.sub(r"(?<!:)//.*", "", self.lines[self.at]).rstrip()
            self.at += 1
            for i, c in enumerate(line):
                depth += (c in "(") - (c in ")")
                if depth == 0 and c == ";":
                    return self.keep(comment, text + line[:i + 1], begin)
                if depth == 0 and c == "{" and not self.is_initialiser(text + line[:i]):
                    return self.body(comment, text + line[:i], line[i:], begin)
            text += line + "\n"
        return None

    @staticmethod
    def is_initialiser(head):  # T value_{3};
        return re.search(r"[\w\]]$", head) and "(" not in head and not re.search(
            r"\b(class|struct|union|enum|namespace|const|noexcept|override)\b", head)

    def body(self, comment, head, rest, begin):
        plain = " ".join(re.sub(r"^\s*template <.*?>\s*(requires .*)?$", "", head, flags=re.M).split())
        plain = re.sub(r"^template <(?:[^<>]|<[^<>]*>)*> ", "", plain)
        if found := re.match(r"^(?:inline )?namespace ([\w:]*)$", plain):
            hidden = "detail" in found.group(1)
            self.scopes += [[name, not hidden] for name in found.group(1).split("::")][:1] if "::" not in found.group(1) else [
                [found.group(1).removeprefix("viaduct::"), not hidden]]
            return
        kind = SCOPE.match(plain)
        if kind and "(" not in plain.split(":")[0]:
            self.keep(comment, head.rstrip() + self.plain_struct(plain, rest), begin)
            if (base := BASE.match(plain)) and comment:
                within = self.scope()
                self.bases.append(tuple(f"{within}::{name}".removeprefix("::") for name in base.groups()))
            self.scopes.append([kind.group(1), plain.startswith("struct")])
            rest = rest[1:].strip()
            if rest.startswith("}"):
                self.scopes.pop()
            return
        whole = self.skip_body(rest)
        self.keep(comment, head.rstrip() + (" " + whole if plain.startswith("enum") else ";"), begin)

    def plain_struct(self, plain, rest):
        """The body of a structure that is nothing but a few data members; else nothing."""
        if not plain.startswith("struct"):
            return ""
        at = self.at
        body = self.skip_body(rest)
        self.at = at
        return "" if "(" in re.sub(r"//.*", "", body) or body.count("\n") > 24 else " " + body

    def skip_body(self, rest):
        depth, text, line = 0, "", rest
        while True:
            for i, c in enumerate(re.sub(r"'[{}]'|\"[^\"]*\"", lambda m: "x" * len(m.group(0)), line)):
                depth += (c == "{") - (c == "}")
                if depth == 0:
                    if line[i + 1:].strip() == "" and self.at < len(self.lines) and self.lines[self.at].strip() == "{":
                        break  # the body behind an initialiser in the list
                    return text + line[:i + 1] + ";"
            text += line + "\n"
            line = self.lines[self.at]
            self.at += 1

    def keep(self, comment, text, begin):
        if not self.visible() or not (comment or text.lstrip().startswith("enum")):
            return
        raw = text if "{" in text and "(" not in text.split("{")[0] and "\n" in text.split("{", 1)[1] else re.sub(r"\n\s*", " ", text)
        raw = re.sub(r"\[\[[^\]]*\]\]\s*", "", raw)
        raw = re.sub(r"(, class Mode = detail::Here|,? ?detail::Here at = detail::here\(\))", "", raw)  # never passed
        raw = re.sub(r"__attribute__\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)\s*", "", raw)
        raw = re.sub(r"(\)(?: const)?(?: noexcept)?) : [\w:<>]+[({].*$", r"\1;", raw.strip())  # a constructor's list
        flat = raw.replace("template <", "template<", 1)
        name, kind = self.name_of(flat)
        if name and not name.startswith("~"):
            self.items.append(Item(self.scope(), name, kind, tidy(raw), comment))

    @staticmethod
    def name_of(text):
        text = re.sub(r"^template<(?:[^<>]|<[^<>]*>)*>\s*(?:requires [^\n]*?\)\s+)?", "", text)
        text = " ".join(text.split())
        text = re.sub(r"^requires ?(?:\((?:[^()]|\([^()]*\))*\)|[\w:]+<(?:[^<>]|<[^<>]*>)*>) ", "", text)
        if "operator" in text:
            return None, None
        if found := re.match(r"(?:class|struct|union|enum class|enum|using|concept)\s+(\w+)", text):
            return found.group(1), "type"
        if found := re.search(r"(~?\w+|operator\S+)\s*\(", text):
            return found.group(1), "function"
        if found := re.search(r"(\w+)\s*(?:=.*|\{.*)?;$", text):
            return found.group(1), "value"
        return None, None


def tidy(text):
    text = re.sub(r"\s*;$", ";", text.strip())
    if "{" in text and "\n" in text:
        text = "\n".join(line for line in text.split("\n") if line.strip())
    else:
        text = " ".join(text.split())
        if not text.endswith((";", "}")):
            text += ";"
    return text


def read(path, include):
    """The group of header @p path, which programs include by the name @p include."""
    reader = Reader(pathlib.Path(path).read_text()).read()
    return Group(include, reader.about, reader.items)
