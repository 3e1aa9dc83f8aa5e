#!/usr/bin/env python3
"""links.py FOLDER [HTML_FOLDER]: every link between documents leads to a file and a heading that are there.

Without HTML_FOLDER: the Markdown files of the checkout FOLDER. With it: the HTML files of HTML_FOLDER."""

import html.parser
import pathlib
import re
import sys
import urllib.parse

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def slug(heading):
    """GitHub's name of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def read_markdown(path):
    """(links with their lines, anchors)"""
    links, anchors, inside = [], set(), False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            if heading := re.match(r"#+ (.*)", line):
                name = base = slug(heading.group(1))
                again = 0
                while name in anchors:
                    again += 1
                    name = f"{base}-{again}"
                anchors.add(name)
            links += [(number, to) for to in LINK.findall(re.sub(r"`[^`]*`", "", line))]
    return links, anchors


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        if to := values.get("href" if tag in ("a", "link") else "src"):
            self.links.append((self.getpos()[0], to))


def read_html(path):
    page = Page(path.read_text())
    return page.links, page.anchors


def main():
    root = pathlib.Path(sys.argv[-1]).resolve()
    markdown = len(sys.argv) == 2
    if markdown:
        files = sorted(path for path in root.rglob("*.md") if "build" not in path.relative_to(root).parts)
    else:
        files = sorted(root.rglob("*.html"))
    pages = {path: (read_markdown if markdown else read_html)(path) for path in files}
    wrong, count = [], 0
    for path, (links, anchors) in pages.items():
        for line, to in links:
            if re.match(r"[a-z]+:|//|/", to):
                continue
            count += 1
            name, _, anchor = urllib.parse.unquote(to).partition("#")
            target = path.parent.joinpath(name.split("?")[0]).resolve() if name else path
            where = f"{path.relative_to(root)}:{line}: {to}"
            if not target.exists():
                wrong.append(f"{where}: no such file")
            elif anchor and target in pages and anchor not in pages[target][1]:
                wrong.append(f"{where}: no such heading")
    print(f"{count} links in {len(files)} files, {len(wrong)} broken")
    for sentence in wrong:
        print(sentence)
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
