"""Measures, and writes the report; ./run report calls it.

usage: python3 benchmarks/report check OUTPUT [--compare OLD.json]
       python3 benchmarks/report programs [--quick]
       python3 benchmarks/report measure FOLDER_OF_PROGRAMS OUTPUT [--quick] [--compare OLD.json] [--version TEXT]
       python3 benchmarks/report page REPORT.json OUTPUT [--compare OLD.json]
       python3 benchmarks/report papers [REPORT.json]
       python3 benchmarks/report record REPORT.json
       python3 benchmarks/report picture REPORT.json PLOT

`check` ends with 0 when plots can be drawn, the folder OUTPUT can be written, and OLD.json can be compared with. `programs`
names the benchmarks that `measure` needs. `measure` runs the benchmarks, and `page`
takes a report that was measured; both write report.html, .md, .json and .csv into the folder OUTPUT. `papers` prints
docs/papers.md, `record` the run as tests/report/recorded.json keeps it, and `picture` one plot, for example mapping, as an SVG
file."""
import argparse
import os
import pathlib
import shutil
import sys

import charts
import gnuplot
import load
import measure
import page
import papers
import plan
import results
import story
import tables
from results import Problem

PLACES = {"check": (1, 1), "programs": (0, 0), "measure": (2, 2), "page": (2, 2), "papers": (0, 1), "record": (1, 1), "picture": (2, 2)}  # how many, of each task


def arguments(words):
    parser = argparse.ArgumentParser(prog="report", usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    parser.add_argument("task", choices=tuple(PLACES))
    parser.add_argument("places", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--compare")
    parser.add_argument("--version", default="")
    given = parser.parse_args(words)
    least, most = PLACES[given.task]
    if not least <= len(given.places) <= most:
        parser.error(f"{given.task} takes {most} files or folders, not {len(given.places)}")
    return given


def folder_for(path):
    """The folder, made.  Raises Problem when nothing can be written there: before minutes of measuring, not after."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise Problem(f"cannot make the folder {path}: {error.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise Problem(f"cannot write into the folder {path}")
    return pathlib.Path(path)


def write(told, folder):
    contents = {"report.json": tables.json_text(told), "report.csv": tables.csv_text(told), "report.md": tables.markdown(told),
                "report.html": page.page(told)}
    for name, text in contents.items():
        (folder / name).write_text(text, encoding="utf-8")


def say(told, folder):
    for number in told.numbers:
        print(f"{number.question:<52} {number.answer:>16}   {tables.percent(number.share)}".rstrip())
    for warning in told.general_warnings():
        print(f"note: {warning}")
    print(f"the page is {folder}/report.html; beside it lie report.md, report.json and report.csv")


def main(words):
    given = arguments(words)
    earlier = results.read(given.compare) if given.compare else None
    if given.task == "check":
        folder_for(given.places[0])
        if not shutil.which("gnuplot"):
            raise Problem("gnuplot is not installed (Debian's package gnuplot-nox): no plot can be drawn")
    elif given.task == "programs":
        print(" ".join(plan.programs(given.quick)))
    elif given.task == "record":
        print(tables.record_text(results.read(given.places[0]).document), end="")
    elif given.task == "picture":
        plots = {chart.id: chart for chart in charts.all_charts(results.read(given.places[0]), papers.read())}
        if given.places[1] not in plots:
            raise Problem(f"there is no plot {given.places[1]}; there are {', '.join(plots)}")
        print(gnuplot.picture(plots[given.places[1]]), end="")
    elif given.task == "papers":
        measured = results.read(given.places[0]) if given.places else None
        if measured:
            measured.leave_out(load.drowned(measured))
        print(tables.papers_markdown(measured, papers.read()))
    else:
        folder = folder_for(given.places[1])
        if given.task == "measure":
            found = measure.measure(given.places[0], given.quick, version=given.version)
        else:
            found = results.read(given.places[0])
        told = story.tell(found, earlier)
        write(told, folder)
        say(told, folder)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Problem as problem:
        print(f"report: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("report: interrupted; nothing was written", file=sys.stderr)
        sys.exit(130)
