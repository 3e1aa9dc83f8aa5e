"""A plot as data: its series, axes and words. What draws it is gnuplot.py; tables.py writes the same data as text.

Values are in the base unit of their dimension (units.py): ns, bytes, bytes a second."""
import dataclasses
import math

import units

OURS, LIMIT, PAPER, FIT = "ours", "limit", "paper", "fit"
ROLE_WORDS = {OURS: "measured in this run", LIMIT: "limit, of the same run", PAPER: "paper", FIT: "fit"}


@dataclasses.dataclass
class Point:
    x: float
    y: float
    low: float | None = None  # the error range: least of the rounds ...
    high: float | None = None  # ... and their 95th percentile
    label: str = ""  # written beside it
    rounds: int = 0


@dataclasses.dataclass
class Series:
    label: str
    role: str
    points: list
    lines: bool = True  # joined by lines
    marks: bool = True  # each with a mark
    color: int = 0  # among those of its role; 0: the chart counts
    bound: str = ""  # below, above, about: what the paper says of the values


@dataclasses.dataclass
class Axis:
    label: str
    dimension: str
    log: bool = True
    low: float | None = None
    high: float | None = None


@dataclasses.dataclass
class Chart:
    id: str
    title: str
    source: str  # the paper's table or figure, or what else it is after
    words: list  # sentences: how to read it
    x: Axis
    y: Axis
    series: list
    programs: list  # whose figures it draws: their disturbances are told beside it
    kind: str = "xy"  # xy; dots: values on x, categories on y; stack: parts of a whole on x, categories on y
    categories: list = dataclasses.field(default_factory=list)
    not_ours: str = ""  # a sentence when nothing of ours is in it yet

    def __post_init__(self):
        for series in self.series:
            series.points = [point for point in series.points if self.shows(point)]
        self.series = [series for series in self.series if series.points]
        count = {}
        for series in self.series:
            count[series.role] = count.get(series.role, 0) + 1
            series.color = series.color or count[series.role]

    def shows(self, point):
        """A logarithmic axis has no place for zero and below."""
        value_axes = ((self.x, point.x), (self.y, point.y)) if self.kind == "xy" else ((self.x, point.x),)
        return all(math.isfinite(value) and (not axis.log or value > 0) for axis, value in value_axes)

    @property
    def empty(self):
        return not self.series

    @property
    def has_ours(self):
        return any(series.role == OURS for series in self.series)

    @property
    def missing(self):
        """A sentence when nothing of ours is in the plot, else nothing."""
        if self.not_ours or self.has_ours:
            return self.not_ours
        return "Ours is not measured in this run: these are the paper's values alone."

    def value_axis(self):
        return self.y if self.kind == "xy" else self.x

    def value_of(self, point):
        return point.y if self.kind == "xy" else point.x


def figure_point(x, figure):
    """A measured figure at x, with its error range."""
    low, high = figure.base_range
    return Point(x, figure.base, low, high, rounds=figure.rounds)


def row_point(row, figure):
    """A measured figure in row `row` of a chart of categories."""
    low, high = figure.base_range
    return Point(figure.base, row, low, high, rounds=figure.rounds)


def row_series(label, found):
    """Measured figures, [(row, figure or None)], in a chart of categories."""
    return Series(label, OURS, [row_point(row, figure) for row, figure in found if figure], lines=False)


def row_limits(label, found):
    """Limits in a chart of categories: without an error range."""
    return Series(label, LIMIT, [Point(figure.base, row) for row, figure in found if figure], lines=False)


def base_text(value, dimension):
    """A value in a dimension's base unit, for a reader."""
    unit = {"time": "ns", "bandwidth": "B/s", "rate": "M/s", "size": "B", "share": "x", "percent": "%"}.get(dimension, "")
    return units.amount(value, unit) if unit else units.digits(value)


def log_ticks(low, high, dimension):
    """[(value, label)] of a logarithmic axis from low to high: powers of 10, of 8 for sizes, of 2 for ranks; more of them on a
    short one."""
    step = {"size": 8.0, "ranks": 2.0}.get(dimension, 10.0)
    between = (1,)
    if dimension != "ranks" and high / low < 60:  # too short for steps of ten
        step, between = (2.0, (1,)) if dimension == "size" else (10.0, (1, 2, 5))
    first, last = math.floor(math.log(low, step) + 1e-9), math.ceil(math.log(high, step) - 1e-9)
    values = [step**power * part for power in range(first, last + 1) for part in between]
    return [(value, _tick(value, dimension)) for value in values]


def _tick(value, dimension):
    text = base_text(value, dimension)
    number, _, unit = text.partition(" ")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {unit}".strip()
