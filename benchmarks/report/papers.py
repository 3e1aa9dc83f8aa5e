"""The papers' numbers (papers.json) beside ours: values, ratios, and what the comparison means."""
import json
import pathlib
import re

import units
from results import Problem

MISSING = "not measured yet"


class Value:
    """A number with a unit, from a paper, a figure of ours, or both."""

    def __init__(self, number, unit):
        self.number, self.unit = number, unit

    @property
    def base(self):
        return units.base(self.number, self.unit)

    @property
    def text(self):
        return units.amount(self.number, self.unit)


class Papers:
    def __init__(self, document):
        self.papers = document["papers"]
        self.places = document["places"]
        self._rows = {f"{place['id']}.{row['id']}": row for place in self.places for row in place["rows"]}

    def place(self, name):
        for place in self.places:
            if place["id"] == name:
                return place
        raise Problem(f"papers.json has no place {name}")

    def paper_of(self, place):
        return self.papers[place["id"].split(".")[0]]

    def cite(self, place):
        return f"{self.paper_of(place)['short']}, {place['place']}"

    def row(self, name):
        if name not in self._rows:
            raise Problem(f"papers.json has no row {name}")
        return self._rows[name]

    def value(self, name):
        row = self.row(name)
        return Value(row["value"], row["unit"])

    def term(self, name, results):
        """The value of a name in a sentence or in "ours": a paper's row, a figure of ours, the machine's clock."""
        if name in self._rows:
            return self.value(name)
        if name == "machine.tsc_ghz":
            clock = results.machine.get("tsc_ghz")
            return Value(clock, "GHz") if clock else None
        figure = results.get(name)
        return Value(figure.median, figure.unit) if figure else None

    def evaluate(self, expression, results):
        """NAME, NAME / NAME, NAME / NAME %, or NAME * NAME (a time in cycles of a clock). None: something is missing."""
        parts = expression.split()
        terms = [self.term(name, results) for name in parts[0:3:2]]
        if None in terms:
            return None
        if len(parts) == 1:
            return terms[0]
        if parts[1] == "*":
            return Value(terms[0].base * terms[1].base, "cycles")
        if parts[1] != "/" or parts[3:] not in ([], ["%"]):
            raise Problem(f"papers.json: '{expression}' is no expression")
        if terms[1].base == 0:
            return None
        share = terms[0].base / terms[1].base
        return Value(share * 100, "%") if parts[3:] else Value(share, "x")

    def ours(self, row, results):
        """Our value beside a row's, or None: there is no such figure, or this run has none."""
        value = self.evaluate(row["ours"], results) if row.get("ours") and results else None
        if value and (row["unit"], value.unit) == ("%", "x"):
            return Value(value.number * 100, "%")  # as the paper writes it
        return value

    def sentences(self, place, results):
        """What the comparison means. A sentence that needs a figure which was not measured is left out, and one that says
        so is left out when it was."""
        said = []
        for sentence in place["means"]:
            complete = True
            if isinstance(sentence, dict):
                complete = results is None or results.get(sentence["unless"]) is None
                sentence = sentence["text"]

            def fill(match):
                nonlocal complete
                value = self.evaluate(match.group(1), results) if results else None
                complete = complete and value is not None
                return value.text if value else ""

            filled = re.sub(r"\{([^}]+)\}", fill, sentence)
            if complete:
                said.append(filled)
        return said


def paper_text(row):
    """The paper's value as it stands in a table: with its bound, and how it was derived."""
    bound = f"{row['bound']} " if row.get("bound") else ""
    text = f"{bound}{row['value']:,g} {row['unit'].replace('us', 'µs')}".replace(" x", "")
    return f"{text} ({row['derived']})" if row.get("derived") else text


def ratio_text(row, ours):
    """How many times ours is the better one: paper / ours for times, sizes and cycles, ours / paper for all else."""
    paper = Value(row["value"], row["unit"])
    if ours is None or ours.base <= 0 or units.dimension(paper.unit) != units.dimension(ours.unit):
        return ""
    shorter = units.dimension(paper.unit) in ("time", "size", "cycles")
    better = paper.base / ours.base if shorter else ours.base / paper.base
    return units.digits(better)


def read():
    path = pathlib.Path(__file__).with_name("papers.json")
    return Papers(json.loads(path.read_text(encoding="utf-8")))
