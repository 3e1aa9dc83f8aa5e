"""The results of one run of all benchmarks, as `measure` writes them and --compare reads them again."""
import json
import re

import units

FORMAT = 1


class Problem(Exception):
    """What a user has to know: one sentence."""


class Figure:
    """One figure of one benchmark: median, least and 95th percentile of its rounds."""

    def __init__(self, key, fields):
        self.key = key
        self.unit = fields["unit"]
        self.median, self.low, self.high = (float(fields[name]) for name in ("median", "min", "p95"))
        self.rounds = int(fields["n"])

    @property
    def base(self):
        return units.base(self.median, self.unit)

    @property
    def base_range(self):
        """The least of the rounds, and their 95th percentile: the error range of the plots."""
        return units.base(self.low, self.unit), units.base(self.high, self.unit)

    @property
    def text(self):
        return units.amount(self.median, self.unit)


class Results:
    def __init__(self, document, source):
        self.document = document
        self.source = source
        self.benchmarks = document["benchmarks"]
        self._figures = {}
        for program, run in self.benchmarks.items():
            for name, fields in run.get("figures", {}).items():
                key = f"{program}.{name}"
                self._figures[key] = Figure(key, fields)
        if not self._figures:
            raise Problem(f"{source} holds no figures")

    def leave_out(self, keys):
        """From here on these figures, and their ratios, count as not measured."""
        for key in keys:
            self._figures.pop(key, None)
            self._figures.pop(f"{key}_ratio", None)

    def get(self, key):
        """The figure PROGRAM.NAME, or None when it was not measured."""
        return self._figures.get(key)

    def keys(self):
        return self._figures.keys()

    def by_size(self, program, before, after="_gbs"):
        """[(bytes, figure)] of all figures PROGRAM.BEFORE_SIZE_AFTER, in order of size."""
        pattern = re.compile(re.escape(f"{program}.{before}_") + r"(\d+[bkm])" + re.escape(after))
        found = [(units.size_of(match.group(1)), figure)
                 for key, figure in self._figures.items() if (match := pattern.fullmatch(key))]
        return sorted(found, key=lambda pair: pair[0])

    def by_number(self, program, before, after):
        """[(number, figure)] of all figures PROGRAM.BEFORE_NUMBER_AFTER, in order."""
        pattern = re.compile(re.escape(f"{program}.{before}_") + r"(\d+)" + re.escape(after))
        found = [(int(match.group(1)), figure)
                 for key, figure in self._figures.items() if (match := pattern.fullmatch(key))]
        return sorted(found, key=lambda pair: pair[0])

    @property
    def machine(self):
        """What the benchmarks say of the machine: the first of them that ran."""
        for run in self.benchmarks.values():
            if run.get("machine"):
                return run["machine"]
        return {}

    @property
    def quick(self):
        return bool(self.document.get("quick"))

    @property
    def made(self):
        """When it was measured: day and minute."""
        return str(self.document.get("made", "at an unknown time"))[:16].replace("T", " ")


def _check(document, source):
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), dict):
        raise Problem(f"{source} is no report of ./run report: it has no \"benchmarks\"")
    if document.get("format") != FORMAT:
        raise Problem(f"{source} has format {document.get('format')!r}, and this program reads format {FORMAT}")
    for program, run in document["benchmarks"].items():
        figures = run.get("figures", {}) if isinstance(run, dict) else None
        if not isinstance(figures, dict):
            raise Problem(f"{source}: benchmark {program} has no table of figures")
        for name, fields in figures.items():
            numbers = isinstance(fields, dict) and all(
                isinstance(fields.get(part), (int, float)) for part in ("min", "median", "p95", "n"))
            if not numbers or not isinstance(fields.get("unit"), str):
                raise Problem(f"{source}: figure {program}.{name} lacks min, median, p95, n or unit")


def read(path):
    """The results in the file.  Raises Problem when there are none."""
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise Problem(f"{path} is no JSON: {error}") from None
    _check(document, path)
    return Results(document, path)
