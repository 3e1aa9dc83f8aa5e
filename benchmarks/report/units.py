"""Units of figures: how a value is compared with another one's, and how it is written for a reader."""
import math

# unit: (dimension, factor to the dimension's base)
UNITS = {
    "ns": ("time", 1.0), "us": ("time", 1e3), "ms": ("time", 1e6), "s": ("time", 1e9),
    "B/s": ("bandwidth", 1.0), "MB/s": ("bandwidth", 1e6), "GB/s": ("bandwidth", 1e9),
    "M/s": ("rate", 1.0), "%": ("share", 0.01), "x": ("share", 1.0),
    "B": ("size", 1.0), "bytes": ("size", 1.0), "GHz": ("clock", 1.0), "cycles": ("cycles", 1.0),
}
LESS_IS_BETTER = {"time", "size", "cycles", "share"}


def dimension(unit):
    return UNITS.get(unit, (unit, 1.0))[0]


def base(value, unit):
    """The value in its dimension's base unit, in which values of one dimension are compared."""
    return value * UNITS.get(unit, (unit, 1.0))[1]


def less_is_better(unit):
    return dimension(unit) in LESS_IS_BETTER


def digits(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.{2 - math.floor(math.log10(size))}f}"


def _scaled(value, steps):
    for factor, unit in steps:
        if abs(value) >= factor:
            return f"{digits(value / factor)} {unit}"
    factor, unit = steps[-1]
    return f"{digits(value / factor)} {unit}"


def amount(value, unit):
    """The value in the unit of its dimension that reads best: 0.14 us is written 140 ns."""
    what, value = dimension(unit), base(value, unit)
    if what == "time":
        return _scaled(value, ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")))
    if what == "bandwidth":
        return _scaled(value, ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")))
    if what == "rate":
        return f"{digits(value)} million/s" if value >= 0.1 else f"{digits(value * 1e6)}/s"
    if what == "share":
        return f"{digits(value * 100)} %" if unit == "%" else digits(value)
    if what == "size":
        return size(value)
    return f"{digits(value)} {unit}"


def size(bytes_):
    """8 B, 64 KiB, 1 MiB; sizes that are no whole number of a unit have three digits."""
    for factor, unit in ((2**20, "MiB"), (2**10, "KiB")):
        if bytes_ >= factor:
            value = bytes_ / factor
            return f"{value:.0f} {unit}" if value == int(value) else f"{digits(value)} {unit}"
    return f"{bytes_:.0f} B"


def size_of(name):
    """The bytes that a figure's name means by 8b, 64k or 1m."""
    return int(name[:-1]) * {"b": 1, "k": 2**10, "m": 2**20}[name[-1]]
