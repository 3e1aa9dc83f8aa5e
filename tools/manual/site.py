#!/usr/bin/env python3
"""Pages of the HTML manual, for Sphinx: site.py ROOT FOLDER VERSION INCLUDE=HEADER...

FOLDER becomes the documents of ROOT (docs/, README.md and its like), a reference page for each header, and a table of
contents. Links between documents stay links. A link to another file of ROOT becomes its name; where such a link stands alone
in a paragraph, the file's text follows it."""

import pathlib
import re
import shutil
import sys

import headers
from man_pages import about

# The contents: a title, then the pages under docs/ or elsewhere. All other documents are under the last title.
CONTENTS = (
    ("Begin", ("README.md", "docs/tutorial.md", "docs/guide.md", "docs/coming-from.md", "docs/faq.md")),
    ("Split-C", ("docs/splitc.md", "docs/memory-model.md", "docs/checked.md", "docs/splitc-language.md", "docs/splitc-checked.md",
                 "docs/porting-split-c.md", "docs/wrong-programs.md", "examples/splitc/README.md", "examples/split-c/README.md")),
    ("C interfaces", ("docs/am2.md", "docs/vipl.md")),
    ("Run and measure", ("docs/launching.md", "docs/launch.md", "docs/verbs.md", "docs/errors.md", "docs/faults.md",
                         "docs/benchmarks.md", "docs/performance.md", "docs/papers.md")),
    ("Words and sources", ("docs/glossary.md", "docs/names.md", "docs/bibliography.md", "CHANGELOG.md")),
    ("How it is built", ("docs/architecture.md", "docs/life-of-a-message.md", "CONTRIBUTING.md")),
)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
CODE = {".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".sc": "text"}
CONF = """project = "Viaduct"
version = release = "{version}"
copyright = "the Viaduct maintainers"
extensions = ["myst_parser"]
myst_heading_anchors = 5
html_theme = "alabaster"
html_theme_options = {{"page_width": "1100px", "fixed_sidebar": True, "description": "Active Messages and Split-C"}}
html_sidebars = {{"**": ["about.html", "searchbox.html", "navigation.html", "relations.html"]}}
html_show_sourcelink = False
html_copy_source = False
highlight_language = "none"
"""


class Site:
    def __init__(self, root, folder):
        self.root, self.folder = root.resolve(), folder
        listed = [path for _, pages in CONTENTS for path in pages]
        others = [str(path.relative_to(self.root)) for path in sorted(self.root.glob("docs/**/*.md"))]
        self.pages = [path for path in dict.fromkeys(listed + others) if (self.root / path).is_file()]
        self.wrong = []

    def copy(self):
        for page in self.pages:
            target = self.folder / page
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.convert(page))
        if (self.root / "docs/pictures").is_dir():
            shutil.copytree(self.root / "docs/pictures", self.folder / "docs/pictures", dirs_exist_ok=True)

    def convert(self, page):
        lines, inside = [], False
        for number, line in enumerate((self.root / page).read_text().splitlines(), 1):
            if line.startswith("```"):
                inside = not inside
                words = line[3:].split()
                known = {"sh": "sh", "cpp": "cpp", "c": "c", "cmake": "cmake", "make": "make"}
                lines.append("```" + known.get(words[0], "text") if words else "```text" if inside else "```")
            elif inside:
                lines.append(line)
            else:
                lines += self.links(page, number, line)
        return "\n".join(lines) + "\n"

    def links(self, page, number, line):
        code = []

        def one(found):
            picture, text, to = found.groups()
            if re.match(r"[a-z]+:", to) or to.startswith("#"):
                return found.group(0)
            path, _, anchor = to.partition("#")
            target = (self.root / page).parent.joinpath(path).resolve()
            if not target.exists() or self.root not in [target, *target.parents]:
                self.wrong.append(f"{page}:{number}: there is no {to}")
                return text
            name = str(target.relative_to(self.root))
            if name in self.pages or picture:
                return found.group(0)
            if target.is_dir() and f"{name}/README.md" in self.pages:
                return f"[{text}]({path.rstrip('/')}/README.md)"
            if found.group(0) == line.strip().rstrip(":"):
                code.extend(["", f"```{CODE.get(target.suffix, 'text')}", target.read_text().rstrip(), "```"])
            return text if text.strip("`") == name else f"{text} (`{name}`)"

        return [LINK.sub(one, line)] + code

    def reference(self, groups):
        folder = self.folder / "reference"
        folder.mkdir(parents=True, exist_ok=True)
        for group in groups:
            (folder / f"{group.name}.md").write_text("\n".join(reference_page(group)) + "\n")

    def index(self, groups):
        yield "# Viaduct\n\nActive Messages and Split-C's global memory for C++20, over the Virtual Interface Architecture"
        yield "and InfiniBand. The [tutorial](docs/tutorial.md) has eight steps; the {ref}`search` finds every name.\n"
        used = set()
        for title, pages in CONTENTS:
            here = [page for page in pages if page in self.pages]
            if title == "How it is built":
                here += [page for page in self.pages if page not in used and page not in here]
            used.update(here)
            yield from toctree(title, here)
            if title == "C interfaces":
                yield from toctree("Reference", [f"reference/{group.name}" for group in groups])


def toctree(title, pages):
    yield f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n"
    yield from (page.removesuffix(".md") for page in pages)
    yield "```\n"


def reference_page(group):
    first, rest = about(group)
    yield f"# {group.name}\n\n`#include <{group.header}>`\n\n{escape(first)}. {escape(rest)}\n"
    for item in group.items:
        yield f"## {item.full_name.replace('_', chr(92) + '_')}\n\n```cpp\n{item.declaration}\n```\n"
        rows = []
        for part in headers.parts(item.comment):
            if part.key == "@return":
                before, statuses = headers.statuses(part)
                rows.append(("Returns", "; ".join([before] * bool(before) + [f"`{a}`: {b}" for a, b in statuses])))
            elif part.key:
                rows.append((part.key, part.text))
            else:
                yield escape(part.text) + "\n"
        yield from (f"- **{key}**: {escape(text)}" for key, text in rows)
        yield ""


def escape(text):
    """Nothing in a comment is Markdown but `code`."""
    text = re.sub(r"(?<![\w*])\*(\w[^*`]*)\*(?![\w*])", r"\1", text)
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([<>*_\[\]#{}$])", r"\\\1", piece) for piece in pieces)


def main():
    root, folder, version, *pairs = sys.argv[1:]
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    groups = [headers.read(path, include) for include, path in (pair.split("=", 1) for pair in pairs)]
    site = Site(pathlib.Path(root), folder)
    site.copy()
    site.reference(groups)
    (folder / "index.md").write_text("\n".join(site.index(groups)) + "\n")
    (folder / "conf.py").write_text(CONF.format(version=version))
    if site.wrong:
        sys.exit("\n".join(site.wrong))


if __name__ == "__main__":
    main()
