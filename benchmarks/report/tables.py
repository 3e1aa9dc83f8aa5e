"""The story as Markdown, as CSV (each point of each plot) and as JSON (the results, and the plots' points)."""
import csv
import io
import json
import textwrap

import compare
import load
import papers as papers_module
import units
from chart import ROLE_WORDS, base_text



def percent(share):
    return f"{share * 100:.0f} %" if share is not None else ""


def _table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [*lines, ""]


def x_text(chart, point):
    if chart.kind != "xy":
        return chart.categories[round(point.y)]
    return units.size(point.x) if chart.x.dimension == "size" else base_text(point.x, chart.x.dimension)


def value_text(chart, value):
    dimension = chart.value_axis().dimension
    return f"{units.digits(value)} %" if dimension == "percent" else base_text(value, dimension)


def point_text(chart, series, point):
    text = value_text(chart, chart.value_of(point))
    if point.low is not None:
        text += f" ({value_text(chart, point.low)} to {value_text(chart, point.high)})"
    return f"{series.bound} {text}".strip()


def chart_table(chart):
    """(head, rows): a row for each x, a column for each series."""
    xs = []
    for series in chart.series:
        for point in series.points:
            key = point.x if chart.kind == "xy" else point.y
            if key not in xs:
                xs.append(key)
    rows = []
    for key in sorted(xs):
        cells, name = [], ""
        for series in chart.series:
            points = [point for point in series.points if (point.x if chart.kind == "xy" else point.y) == key]
            name = name or (x_text(chart, points[0]) if points else "")
            cells.append(", ".join(point_text(chart, series, point) for point in points))
        rows.append([name, *cells])
    return [chart.x.label if chart.kind == "xy" else "", *(series.label for series in chart.series)], rows


def shown_changes(story):
    """(the changes that can be told and those of the five numbers, all others)"""
    first = {number.key for number in story.numbers}
    shown = [change for change in story.changes if change.marked or change.key in first]
    return shown, [change for change in story.changes if change not in shown]


def change_cells(change):
    return [change.key, change.old, change.new, f"{change.change * 100:+.0f} %", f"{change.noise * 100:.0f} %", change.verdict]


CHANGE_HEAD = ["figure", "before", "now", "change", "noise", "verdict"]


def markdown(story):
    lines = ["# What this machine can do", "", story.machine_line() + ".", story.run_line(), ""]
    for warning in story.general_warnings():
        lines += [f"> {warning}", ""]
    for program, said in story.disturbed.items():
        lines += [f"> `{program}`: {'; '.join(said)}.", ""]
    lines += ["## Five numbers", ""]
    lines += _table(["question", "this machine", "limit", "the papers", "this machine is"], [
        [number.question, f"**{number.answer}**", number.limit, number.paper, number.ratio]
        for number in story.numbers])
    if story.earlier:
        lines += [f"## Compared with {story.earlier.made}", "", compare.summary(story.changes), ""]
        lines += _table(CHANGE_HEAD, [change_cells(change) for change in shown_changes(story)[0]])
    lines += ["## What to use for which size", ""]
    for title, rows in (("Single words", story.words), ("To the other process, which reads them", story.to_peer),
                        ("From the other process", story.from_peer)):
        if rows:
            lines += [f"### {title}", ""] + _table(["size", "use", "reaches", "the machine itself", "share of that"], [
                [row.size, row.use, row.value, row.limit, percent(row.share)] for row in rows])
    lines += ["## The papers' figures, with this machine in them", ""]
    for chart in story.charts:
        lines += [f"### {chart.title}", "", f"{chart.source}. {' '.join(chart.words)} {chart.missing}".rstrip(), ""]
        lines += _table(*chart_table(chart))
    lines += ["## Not measured yet", ""] + [f"- {cite}: {title}" for cite, title in story.not_measured()] + [""]
    return "\n".join(lines)


def csv_text(story):
    """One row for each point of each plot; values in base units: ns, B, B/s, M/s, %."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["plot", "source", "series", "role", "x", "value", "low", "high", "rounds", "dimension"])
    for chart in story.charts:
        for series in chart.series:
            for point in series.points:
                x = f"{point.x:.9g}" if chart.kind == "xy" else chart.categories[round(point.y)]
                low, high = (f"{edge:.9g}" if edge is not None else "" for edge in (point.low, point.high))
                writer.writerow([chart.id, chart.source, series.label, series.role, x, f"{chart.value_of(point):.9g}", low, high,
                                 point.rounds or "", chart.value_axis().dimension])
    return file.getvalue()


def json_text(story):
    """The results as they were measured, which --compare reads, and the plots made from them."""
    plots = [{"id": chart.id, "title": chart.title, "source": chart.source, "series": [
        {"label": series.label, "role": series.role, "points": [
            [point.x, point.y, point.low, point.high] for point in series.points]} for series in chart.series]}
        for chart in story.charts]
    warnings = [f"{program}: {sentence}" for program, said in story.disturbed.items() for sentence in said]
    return json.dumps({**story.results.document, "warnings": warnings, "plots": plots}, indent=1)


def record_text(document):
    """A report.json as it is kept in the repository: without plots, five digits, a line for each figure."""
    kept = {name: value for name, value in document.items() if name not in ("benchmarks", "plots", "warnings")}
    lines = ["{"] + [f" {json.dumps(name)}: {json.dumps(value)}," for name, value in kept.items()] + [' "benchmarks": {']
    runs = []
    for program, run in document["benchmarks"].items():
        facts = ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in run.items() if name != "figures")
        figures = [f"    {json.dumps(name)}: " + json.dumps({part: float(f"{value:.5g}") if part in ("min", "median", "p95") else value
                                                         for part, value in figure.items()})
                   for name, figure in run["figures"].items()]
        runs.append(f'  {json.dumps(program)}: {{{facts},\n   "figures": {{\n' + ",\n".join(figures) + "}}")
    return "\n".join(lines) + "\n" + ",\n".join(runs) + "}}\n"


def _wrapped(text):
    return textwrap.fill(text, 125, break_long_words=False, break_on_hyphens=False)


def papers_markdown(results, papers):
    """docs/papers.md: each number of the papers, ours, and what the comparison means."""
    lines = ["# The papers' numbers beside ours", "",
             _wrapped("Each table has the numbers of one table or figure of the founding papers: the paper's value, ours, and how "
                      "many times ours is the better one (for shares: ours divided by the paper's). *Below*, *above* and *about* "
                      "are the paper's words. Numbers that the papers show only as a picture are not here. The same numbers are in "
                      "`benchmarks/report/papers.json`, from which this page and the page of `./run report` ([benchmarks.md](benchmarks.md)) are made:"), "",
             "```sh", "python3 benchmarks/report papers REPORT.json >docs/papers.md", "```", ""]
    if results:
        machine = results.machine
        lines += [_wrapped(f"**Ours** were measured {results.made} on {machine.get('cpu', 'an unknown processor')}, "
                           f"{machine.get('cores', '?')} cores, {machine.get('kernel', '')}, by `./run report"
                           f"{' --quick' if results.quick else ''}`. All of it is between two processes of that machine, over "
                           "shared memory."), ""]
        disturbed = load.disturbed(results)
        if disturbed:
            during = "; ".join(f"during `{name}` {', '.join(said)}" for name, said in disturbed.items())
            lines += [_wrapped(f"**The machine was disturbed**: {during}. These values show the order of magnitude."), ""]
    for name, paper in papers.papers.items():
        lines += [f"## {paper['short']}", "",
                  _wrapped(f"{paper['authors']}: *{paper['title']}*, {paper['year']}. Machines: {paper['machine']}."), ""]
        for place in papers.places:
            if place["id"].split(".")[0] == name:
                lines += _papers_place(place, papers, results)
    return "\n".join(lines)


def _papers_place(place, papers, results):
    rows = []
    for row in place["rows"]:
        ours = papers.ours(row, results)
        rows.append([row["what"], papers_module.paper_text(row), ours.text if ours else papers_module.MISSING,
                     papers_module.ratio_text(row, ours)])
    return [f"### {place['place']}: {place['title']}", "", f"Section {place['section']}.", "",
            *_table(["", "paper", "ours", "ratio"], rows), _wrapped(" ".join(papers.sentences(place, results))), ""]
