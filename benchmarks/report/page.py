"""The story as one HTML page that holds all it needs: no script, no address of another server, plots as SVG."""
import html
import pathlib
import re

import compare
import gnuplot
import tables
from chart import FIT, LIMIT, OURS, PAPER, ROLE_WORDS

DASHES = {OURS: "━", LIMIT: "┈", PAPER: "╍", FIT: "┄"}


def _e(text):
    return html.escape(str(text), quote=True)


def _cell(text):
    """A number and its unit stay on one line."""
    return re.sub(r"(?<=\d) (?=(?:[nµm]?s|[kMG]?B(?:/s)?|[KM]iB|%|million/s)\b|%)", "&nbsp;", _e(text))


def _paragraphs(sentences, style=""):
    kind = f' class="{style}"' if style else ""
    return f"<p{kind}>{_e(' '.join(sentence for sentence in sentences if sentence))}</p>"


def _warning(sentences, style="warning"):
    return f'<div class="{style}" role="note">' + "".join(f"<p>{_e(sentence)}</p>" for sentence in sentences) + "</div>"


def _disturbance(story, programs):
    """The box at a plot or a table whose benchmarks were disturbed."""
    said = [f"While {program} ran: {'; '.join(warnings)}." for program, warnings in story.warnings_for(programs)]
    return _warning([" ".join(said + ["Read the order of magnitude here, not the digits."])]) if said else ""


def _number(number, story):
    width = f"{min(100.0, number.share * 100):.0f}%" if number.share is not None else ""
    bar = f'<div class="bar"><span style="width:{width}"></span></div>' if width else ""
    amount, _, unit = number.answer.replace("million/s", "million").partition(" ")  # the question says: a second
    paper = _e(number.paper) + (f" ({_e(number.ratio)} here)" if number.ratio else "")
    mark = " ⚠" if story.warnings_for(number.programs) else ""
    return (f'<section class="number" id="number-{_e(number.key.replace(".", "-"))}"><h3>{_e(number.question)}{mark}</h3>'
            f'<div class="answer">{_e(amount)} <small>{_e(unit)}</small></div>{bar}'
            f"<p>{_e(number.limit)}.</p><p>{paper}.</p>"
            f'<p class="soft">{_e(number.explanation)}</p></section>')


def _key(chart):
    """The legend: below the plot, as text, so that it wraps on a phone."""
    items = []
    for series in chart.series:
        if chart.kind == "stack":
            mark = "■"
        else:
            lines = series.lines and chart.kind == "xy"
            mark = (DASHES[series.role] if lines else "") + (gnuplot.MARKS[gnuplot.mark_of(series)] if series.marks else "")
            mark += DASHES[series.role] if lines else ""
        role = "" if series.role == OURS or series.role in series.label else f" ({ROLE_WORDS[series.role]})"
        items.append(f'<li><span class="mark" style="color:var({gnuplot.color_variable(series)})">{mark}</span> '
                     f"{_e(series.label)}{_e(role)}</li>")
    return '<ul class="key">' + "".join(items) + "</ul>"


def _html_table(head, rows, style=None):
    lines = ["<thead><tr>" + "".join(f"<th>{_e(cell)}</th>" for cell in head) + "</tr></thead><tbody>"]
    for row in rows:
        kind = f' class="{style(row)}"' if style and style(row) else ""
        lines.append("<tr>" + "".join(f"<td{kind if number == len(row) - 1 else ''}>{_cell(cell)}</td>"
                                      for number, cell in enumerate(row)) + "</tr>")
    return '<div class="scroll"><table>' + "".join(lines) + "</tbody></table></div>"


def _figure(chart, story):
    notes = _warning([chart.missing]) if chart.missing else ""
    return (f'<figure id="plot-{_e(chart.id)}" data-series="{len(chart.series)}"><h3>{_e(chart.title)}</h3>'
            f'<figcaption><span class="source">{_e(chart.source)}</span>{_paragraphs(chart.words)}</figcaption>'
            f"{_disturbance(story, chart.programs)}{notes}"
            f'<div class="wide">{gnuplot.draw(chart, gnuplot.WIDE)}</div>'
            f'<div class="narrow" aria-hidden="true">{gnuplot.draw(chart, gnuplot.NARROW)}</div>'
            f"{_key(chart)}<details><summary>The same as a table</summary>{_html_table(*tables.chart_table(chart))}</details></figure>")


def _advice(story):
    parts = ['<h2 id="advice">What to use for which size</h2>',
             _paragraphs(["For each size the fastest of the ways that were measured, until the receiver has read every word. "
                          "Ways within 5 % of it are as good. The limit is memcpy between the same memories."]),
             _disturbance(story, ["bulk", "splitc-ops"])]
    for title, rows in (("Single words", story.words), ("To the other process, which then reads them", story.to_peer),
                        ("From the other process", story.from_peer)):
        if rows:
            parts.append(f"<h3>{_e(title)}</h3>" + _html_table(
                ["size", "use", "reaches", "the machine itself", "share of that"],
                [[row.size, row.use, row.value, row.limit, tables.percent(row.share)] for row in rows]))
    return "".join(parts)


def _comparison(story):
    if not story.earlier:
        return ""
    shown, others = tables.shown_changes(story)
    kinds = {compare.BETTER: "better", compare.WORSE: "worse"}

    def table(found):
        return _html_table(tables.CHANGE_HEAD, [tables.change_cells(change) for change in found], lambda row: kinds.get(row[-1], ""))

    return (f'<h2 id="comparison">Compared with the run of {_e(story.earlier.made)}</h2>'
            + _paragraphs([compare.summary(story.changes),
                           "The noise is half of the spread of each run's rounds, both added up, and 5 % at least."])
            + table(shown) + f"<details><summary>All {len(others)} others</summary>{table(others)}</details>")


def _papers(story):
    """All numbers of the papers, place by place, as in docs/papers.md. Closed until a reader opens one: not for paper."""
    parts = ['<section class="screen"><h2 id="papers">The papers, number by number</h2>',
             _paragraphs(["The last column says how many times ours is the better one (for shares: ours divided by the paper's)."])]
    for place in story.papers.places:
        rows = []
        for row in place["rows"]:
            ours = story.papers.ours(row, story.results)
            rows.append([row["what"], tables.papers_module.paper_text(row), ours.text if ours else tables.papers_module.MISSING,
                         tables.papers_module.ratio_text(row, ours)])
        parts.append(f"<details><summary>{_e(story.papers.cite(place))}: {_e(place['title'])}</summary>"
                     + _html_table(["", "paper", "ours", "ratio"], rows)
                     + _paragraphs(story.papers.sentences(place, story.results)) + "</details>")
    return "".join(parts) + "</section>"


def page(story):
    css = pathlib.Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    warnings = story.general_warnings()
    disturbed = [f"While {program} ran: {'; '.join(said)}." for program, said in story.disturbed.items()]
    links = [("#advice", "What to use"), ("#plots", "The papers' figures"), ("#papers", "Number by number"), ("#about", "About this run")]
    if story.earlier:
        links.insert(0, ("#comparison", "What changed"))
    body = [
        "<h1>What this machine can do</h1>", _paragraphs([story.machine_line() + ".", story.run_line()], "soft"),
        _paragraphs(["Two processes of this machine send each other messages with Viaduct. Each number stands beside the limit, which "
                     "is what the bare machine did in the same run, and beside what the founding papers measured between machines "
                     "of 1998 to 2001."]),
        '<div class="numbers">' + "".join(_number(number, story) for number in story.numbers) + "</div>",
        _warning(warnings[:2] + ["⚠ marks what is concerned; the end of the page has the details."]) if warnings else "",
        "<nav>" + "".join(f'<a href="{to}">{_e(text)}</a>' for to, text in links) + "</nav>",
        _comparison(story), _advice(story), '<h2 id="plots">The papers\' figures, with this machine in them</h2>',
        _paragraphs(["Filled marks are measured in this run, hollow ones are the papers', and dotted lines are this machine's own limits. "
                     "A bar through a mark reaches from the least of the rounds to their 95th percentile. "
                     "Of the papers' curves only points that their text states are drawn."]),
        *(_figure(chart, story) for chart in story.charts), _papers(story),
        '<h2 id="about">About this run</h2>', _warning(warnings + disturbed) if warnings or disturbed else
        "<p>No other program disturbed the benchmarks, and the cores stayed where they were.</p>",
        "<h3>Not measured yet</h3><ul>" + "".join(f"<li>{_e(cite)}: {_e(title)}</li>" for cite, title in story.not_measured()) + "</ul>",
        "<h3>The benchmarks</h3>", _benchmarks(story)]
    return ("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Viaduct: what this machine can do</title>\n<style>\n{css}</style></head>\n<body><main>\n"
            + "\n".join(part for part in body if part) + "\n</main></body></html>\n")


def _benchmarks(story):
    rows = []
    for program, run in story.results.benchmarks.items():
        load = run.get("load", {})
        probes = [run.get("probe_before_ns"), run.get("probe_after_ns")]
        rows.append([program, run.get("what", ""), " ".join(run.get("arguments", [])), f"{load.get('seconds', 0):.0f} s",
                     f"{load.get('other_cores', 0):.2f}", f"{load.get('steal_cores', 0):.2f}",
                     " / ".join(f"{probe:.0f} ns" if probe else "none" for probe in probes)])
    return _html_table(["benchmark", "measures", "options", "took", "cores used by others", "cores stolen by the host",
                        "core to core, before / after"], rows)
