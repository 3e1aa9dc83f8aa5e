"""Draws a chart as SVG by gnuplot, once for wide screens and paper and once for a phone.

gnuplot chooses no colours: each series has a number of its own where a colour would stand, for which the page's
variables are put in afterwards. So a plot follows the page from light to dark."""
import html
import pathlib
import re
import subprocess

from chart import FIT, LIMIT, OURS, PAPER, log_ticks
from results import Problem

WIDE, NARROW = (800, 430), (400, 380)
FILLED, HOLLOW = (7, 5, 9, 11, 13), (6, 4, 8, 10, 12)  # gnuplot's marks
MARKS = {7: "●", 5: "■", 9: "▲", 11: "▼", 13: "◆", 6: "○", 4: "□", 8: "△", 10: "▽", 12: "◇"}
ROLE_CODE = {OURS: 1, LIMIT: 2, PAPER: 3, FIT: 4}
TEXT_CODE, GRID_CODE = 5, 6
TEXT, GRID, ON_BAR = f"#{TEXT_CODE:02x}0001", f"#{GRID_CODE:02x}0001", f"#{TEXT_CODE:02x}0002"
COLORS_OF_ROLE = 6


def mark_of(series):
    shapes = HOLLOW if series.role == PAPER else FILLED
    return shapes[(series.color - 1) % len(shapes)]


def color_variable(series):
    return f"--{series.role}{(series.color - 1) % COLORS_OF_ROLE + 1}"


def _code(series):
    return f"#{ROLE_CODE[series.role]:02x}00{(series.color - 1) % COLORS_OF_ROLE + 1:02x}"


def _dash(series):
    return {PAPER: 2, LIMIT: 3, FIT: 4}.get(series.role, 1)


def _quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _bounds(axis, values):
    low = axis.low if axis.low is not None else min(values)
    high = axis.high if axis.high is not None else max(values)
    if axis.log:
        low, high = (low / 1.6 if axis.low is None else low), (high * 1.6 if axis.high is None else high)
    elif axis.high is None:
        high = high * 1.08 or 1.0
    return low, high


def _set_axis(name, axis, values, narrow):
    low, high = _bounds(axis, values)
    lines = [f"set {name}range [{low:.9g}:{high:.9g}]", f"set {name}label {_quoted(axis.label)} tc rgb '{TEXT}'"]
    if not axis.log:
        return lines
    ticks = [tick for tick in log_ticks(low, high, axis.dimension) if low <= tick[0] <= high]
    if (narrow and name == "x" and len(ticks) > 5) or len(ticks) > 9:
        ticks = ticks[::2]
    lines.append(f"set logscale {name}")
    lines.append(f"set {name}tics (" + ", ".join(f"{_quoted(text)} {value:.9g}" for value, text in ticks) + ")")
    return lines


def _set_categories(chart):
    rows = len(chart.categories)
    ticks = ", ".join(f"{_quoted(text)} {row}" for row, text in enumerate(chart.categories))
    return [f"set yrange [{rows - 0.5}:-0.5]", f"set ytics ({ticks}) scale 0", "unset ylabel"]


def _spread(chart, series):
    """Series of one category stand a little above one another."""
    order = [other for other in chart.series if other.role != FIT]
    place = order.index(series) - (len(order) - 1) / 2
    return place * min(0.16, 0.7 / max(1, len(order)))


def _data(number, chart, series):
    lines = [f"$d{number} << EOD"]
    for point in series.points:
        value = chart.value_of(point)
        low, high = (point.low, point.high) if point.low is not None else (value, value)
        if chart.value_axis().log:
            low = max(low, value / 100)
        x, y = (point.x, point.y) if chart.kind == "xy" else (point.x, point.y + _spread(chart, series))
        lines.append(f"{x:.9g} {y:.9g} {low:.9g} {high:.9g} {_quoted(point.label)}")
    return lines + ["EOD"]


def _plots(number, chart, series, narrow):
    style = f"lc rgb '{_code(series)}' lw {2.5 if series.role == OURS else 1.8} dt {_dash(series)}"
    mark = f"pt {mark_of(series)} ps {0.55 if narrow else 0.7}"
    found = []
    ranges = any(point.low is not None for point in series.points)
    if chart.kind == "xy" and series.lines:
        found.append(f"$d{number} using 1:2 with lines {style}")
    if ranges and series.marks:
        bars = "xerrorbars" if chart.kind == "dots" else "yerrorbars"
        found.append(f"$d{number} using 1:2:3:4 with {bars} lc rgb '{_code(series)}' lw 1.2 dt 1 {mark}")
    elif series.marks:
        found.append(f"$d{number} using 1:2 with points lc rgb '{_code(series)}' lw 1.6 dt 1 {mark}")
    if any(point.label for point in series.points):
        size = 11 if narrow else 12
        found.append(f"$d{number} using 1:2:5 with labels left offset 0.8,0.5 font ',{size}' tc rgb '{_code(series)}'")
    return found


def _stack(chart, narrow):
    """Rectangles beside each other: one series for each part of the whole."""
    lines, plots = [], []
    ends = [0.0] * len(chart.categories)
    for number, series in enumerate(chart.series):
        labels = []
        lines.append(f"$d{number} << EOD")
        for point in series.points:
            row = int(point.y)
            start, ends[row] = ends[row], ends[row] + point.x
            middle = f"{(start + ends[row]) / 2:.9g} {row}"
            lines.append(f"{middle} {start:.9g} {ends[row]:.9g} {row - 0.3} {row + 0.3}")
            if point.x >= 4:  # a text fits
                labels.append(f"{middle} " + _quoted(f"{point.x:.0f}" if narrow else f"{point.x:.1f} %"))
        lines.append("EOD")
        plots.append(f"$d{number} using 1:2:3:4:5:6 with boxxyerror lc rgb '{_code(series)}' fs solid 0.9 noborder")
        if labels:
            lines += [f"$t{number} << EOD", *labels, "EOD"]
            plots.append(f"$t{number} using 1:2:3 with labels center font ',12' tc rgb '{ON_BAR}'")
    return lines, plots


def _script(chart, name, size):
    narrow = size == NARROW
    width, height = size
    if chart.kind != "xy":
        height = 120 + (44 if chart.kind == "stack" else max(26, 13 * len(chart.series))) * len(chart.categories)
    lines = [f"set terminal svg size {width},{height} dynamic noenhanced font 'sans-serif,{13 if narrow else 14}' name '{name}'",
             "set encoding utf8", "unset key", f"set border 3 lc rgb '{TEXT}'", "set tics nomirror out",
             f"set grid xtics {'' if chart.kind == 'stack' else 'ytics '}lt 1 lc rgb '{GRID}' lw 1 dt 1",
             f"set tics tc rgb '{TEXT}'", "set bars 0.6"]
    ranges = [edge for series in chart.series for point in series.points for edge in (point.low, point.high)
              if edge is not None and (edge > 0 or not chart.value_axis().log)]
    values = [chart.value_of(point) for series in chart.series for point in series.points] + ranges
    if chart.kind == "xy":
        lines += _set_axis("x", chart.x, [point.x for series in chart.series for point in series.points], narrow)
        lines += _set_axis("y", chart.y, values, narrow)
    else:
        lines += _set_axis("x", chart.x, values, narrow) + _set_categories(chart)
    plots = []
    if chart.kind == "stack":
        data, plots = _stack(chart, narrow)
        lines += data
    else:
        # Ours last: on top.
        order = sorted(enumerate(chart.series), key=lambda pair: (pair[1].role == OURS, pair[0]))
        for number, series in order:
            lines += _data(number, chart, series)
            plots += _plots(number, chart, series, narrow)
    return "\n".join([*lines, "plot " + ", \\\n  ".join(plots), ""])


def _run(script):
    try:
        done = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        raise Problem("gnuplot is not installed (Debian's package gnuplot-nox): no plot can be drawn") from None
    except subprocess.TimeoutExpired:
        raise Problem("gnuplot did not end within a minute") from None
    if done.returncode != 0 or "<svg" not in done.stdout:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise Problem(f"gnuplot could not draw a plot: {last}")
    return done.stdout


def _variable(match):
    role, color = int(match.group(1)), int(match.group(2))
    for name, code in ROLE_CODE.items():
        if code == role:
            return f"var(--{name}{color})"
    if role == GRID_CODE:
        return "var(--grid)"
    return "var(--on-bar)" if color == 2 else "var(--text)"


def _for_page(svg, name, label):
    """Without what belongs to a file of its own; its names made unique in the page; colours by the page's variables."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<!--.*?-->|<(desc|title|filter)\b.*?</\1>", "", svg, flags=re.S)
    svg = re.sub(r"\s(xmlns|xmlns:xlink)=\"[^\"]*\"", "", svg).replace("xlink:href", "href")
    svg = re.sub(r"(id=['\"]|href=['\"]#|url\(#)(gp\w+)", rf"\1{name}_\2", svg)
    svg = re.sub(r"rgb\(\s*(\d+),\s*0,\s*(\d+)\s*\)", _variable, svg)
    svg = svg.replace("color='white'", "color='var(--page)'")  # the rim of a mark
    svg = svg.replace("stroke-width='0.205'", "stroke-width='0.32'")  # hollow marks are too thin to be seen
    svg = re.sub(r'<g fill="none" color="\w+"', '<g fill="none"', svg)
    svg = re.sub(r"<g[^>]*>\s*</g>", "", svg)
    svg = re.sub(r'<svg\s+width="\d+"\s+height="\d+"', "<svg", svg, count=1)
    svg = re.sub(r"\n\s*\n+", "\n", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def draw(chart, size=WIDE):
    """The chart as an <svg> element for the page.  Raises Problem when gnuplot cannot."""
    name = re.sub(r"\W", "_", chart.id) + ("_n" if size == NARROW else "")
    label = re.sub(r"[\"<>&]", "", chart.title)
    return _for_page(_run(_script(chart, name, size)), name, label)


def picture(chart):
    """The chart as an SVG file for a document: in the page's colours for light places, with its legend.  Raises Problem when
    gnuplot cannot."""
    css = pathlib.Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"(--[\w-]+): (#\w+)", css.split("}")[0]))
    svg = draw(chart)
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg).groups())
    legend, x = [], 12
    for series in chart.series:
        legend.append(f'<rect x="{x}" y="{height + 6}" width="12" height="12" fill="var({color_variable(series)})"/>'
                      f'<text x="{x + 18}" y="{height + 16}" font-family="sans-serif" font-size="13" fill="var(--text)">'
                      f"{html.escape(series.label)}</text>")
        x += 40 + 8 * len(series.label)
    background = f'<rect width="{width}" height="{height + 28}" fill="var(--page)"/>'
    svg = svg.replace(f'viewBox="0 0 {width} {height}"', f'viewBox="0 0 {width} {height + 28}"', 1)
    svg = svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    svg = re.sub(r"(<svg[^>]*>)", lambda match: match.group(1) + background, svg, count=1)
    svg = svg.replace("</svg>", "".join(legend) + "</svg>")
    return re.sub(r"var\((--[\w-]+)\)", lambda match: colors[match.group(1)], svg).strip() + "\n"
