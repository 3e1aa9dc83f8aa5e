"""Plots of Active Messages and of the VI below them: Begel et al. 2001, tables 1 to 4; LogP's signature."""
import units
from chart import FIT, LIMIT, OURS, PAPER, Axis, Chart, Point, Series, row_limits, row_series

SIGNATURE = "Culler et al. 1996, the LogP signature"


def paper_value(papers, name):
    return papers.value(name).base


def table1(results, papers):
    place = papers.place("begel2001.table1")
    machines = (("lanai4", "LANai 4"), ("lanai7", "LANai 7"), ("clan", "Giganet cLAN"),
                ("servernet2", "ServerNet II (simulated)"))
    series = [Series(f"paper: {text}", PAPER, [Point(paper_value(papers, f"begel2001.table1.{name}.rtt_half"),
                                                     paper_value(papers, f"begel2001.table1.{name}.throughput"))], lines=False)
              for name, text in machines]
    time, speed = results.get("vi.vi_rtt_half_1b_ns"), results.get("bulk.vi_write_plateau_gbs")
    if time and speed:
        series.append(Series("Viaduct's VI", OURS, [Point(time.base, speed.base, *speed.base_range, rounds=speed.rounds)],
                             lines=False))
    limit_time, limit_speed = results.get("vi.hand_over_ns"), results.get("bulk.memcpy_plateau_gbs")
    if limit_time and limit_speed:
        series.append(Series("limit: a cache line from core to core, and memcpy", LIMIT,
                             [Point(limit_time.base, limit_speed.base)], lines=False))
    return Chart("table1", place["title"], papers.cite(place), [
        "Left is a short time for a small message, up is much bandwidth for large ones: the best place is the upper left corner.",
        "The time is half of a round trip of one byte; the bandwidth is the highest of all sizes up to 1 MiB."],
        Axis("time of a small message, one way", "time"), Axis("highest bandwidth", "bandwidth"), series, ["vi", "bulk"])


TABLE2 = (("rtt_half", "RTT/2", "logp.am_short_rtt_half_ns"), ("L", "L", "logp.L_ns"), ("o_s", "o_s", "logp.o_s_ns"),
          ("o_r", "o_r", "logp.o_r_ns"), ("g", "g", "logp.g_ns"), ("delta", "Delta", "logp.delta_ns"))


def table2(results, papers):
    place = papers.place("begel2001.table2")
    series = []
    generations = (("v1_lanai4", "AMVIAv1, LANai 4"), ("v1_lanai7", "AMVIAv1, LANai 7"), ("v3_lanai7", "AMVIAv3, LANai 7"))
    for name, text in generations:
        series.append(Series(f"paper: {text}", PAPER, [
            Point(paper_value(papers, f"begel2001.table2.{name}.{column}"), row)
            for row, (column, _, _) in enumerate(TABLE2)], lines=False))
    series.append(row_series("Viaduct", [(row, results.get(key)) for row, (_, _, key) in enumerate(TABLE2)]))
    series.append(row_series("Viaduct, Split-C's gets", [
        (row, results.get(f"splitc-logp.get_{'logp_rtt_half' if column == 'rtt_half' else column}_ns"))
        for row, (column, _, _) in enumerate(TABLE2)]))
    for generation in (1, 2, 3):
        series.append(row_series(f"Viaduct, AMVIAv{generation}", [
            (row, results.get(f"generations.v{generation}_{column}_ns")) for row, (column, _, _) in enumerate(TABLE2)]))
    series.append(row_limits("limit: a cache line from core to core", [(0, results.get("logp.hand_over_ns"))]))
    return Chart("table2", place["title"], papers.cite(place), [
        "Each row is one of LogP's parameters; further left is faster, and each step of the axis is a factor of ten.",
        "RTT/2 is half of a round trip; L is the way between the processors, o_s and o_r are their work to send and to receive; "
        "g is the least time between two messages; Delta is what Active Messages add to a bare VI message."],
        Axis("time", "time"), Axis("", ""), series, ["logp", "generations", "splitc-logp"], kind="dots",
        categories=[text for _, text, _ in TABLE2])


def signature(results, _papers):
    """The time of one request of a burst, by the length of the burst, with a delay behind each request or none."""
    curves = (("signature", "no delay", None), ("signature_short", "short delay", "logp.signature_short_delay_ns"),
              ("signature_long", "long delay", "logp.signature_long_delay_ns"))
    series, longest = [], 1.0
    for prefix, text, delay_key in curves:
        points = burst_points(results, prefix)
        delay = results.get(delay_key) if delay_key else None
        label = f"{text}: {delay.text}" if delay else text
        series.append(Series(label, OURS, points))
        longest = max([longest] + [point.x for point in points])
    series = [line for line in series if line.points]
    if series:
        series += fitted(results, longest)
    return Chart("signature", "LogP's signature of this machine, with the lines that are fitted to it", SIGNATURE, [
        "A burst of requests is sent, with a delay behind each one, and the time for each request is plotted.",
        "Short bursts without a delay cost about o_s each, since no answer comes meanwhile. In long ones the slowest part sets "
        "the pace: g. With a long delay each request costs o_s, the delay, and o_r for the answer that has come.",
        "The lines are drawn at the values that the method gives; curves that do not meet them mean that the model does not "
        "fit."],
        Axis("requests in the burst", "count"), Axis("time for each request", "time"), series, ["logp"])


def burst_points(results, prefix):
    found = []
    for key in results.keys():
        start = f"logp.{prefix}_"
        middle = key[len(start):-len("_ns")]
        if key.startswith(start) and key.endswith("_ns") and middle.isdigit():
            figure = results.get(key)
            found.append(Point(float(middle), figure.base, *figure.base_range, rounds=figure.rounds))
    return sorted(found, key=lambda point: point.x)


def fitted(results, longest):
    o_s, o_r, gap, delay = (results.get(f"logp.{name}") for name in ("o_s_ns", "o_r_ns", "g_ns", "signature_long_delay_ns"))
    levels = []
    if o_s:
        levels.append(("o_s", o_s.base))
    if gap:
        levels.append(("g", gap.base))
    if o_s and o_r and delay:
        levels.append(("o_s + delay + o_r", o_s.base + o_r.base + delay.base))
    return [Series(f"fitted line: {name} = {units.amount(level, 'ns')}", FIT, [Point(1, level), Point(longest, level)], marks=False)
            for name, level in levels]


PARTS = {"Base VI": "base", "Event notification": "event", "Flow control": "flow", "Semantics": "semantics"}


def mapping(results, papers):
    """The papers' bars, and ours where `mapping` was measured: AMVIAv3's, which the paper measured, and the other forms'."""
    rows = [("AM", "begel2001.table3", "mapping.am"), ("get", "begel2001.table4", "mapping.get")]
    categories = [f"{text}, paper" for text, _, _ in rows]
    columns = [dict(papers.place(place)["parts"]) for _, place, _ in rows]
    forms = [(f"{text}, here", prefix) for text, _, prefix in rows]
    for form, words in (("v1", "v1 here"), ("channel", "channel here")):
        forms += [(f"{text}, {words}", prefix.replace(".", f".{form}_")) for text, _, prefix in rows]
    for text, prefix in forms:
        ours = [results.get(f"{prefix}_{name}_percent") for name in PARTS.values()]
        if all(ours):
            categories.append(text)
            columns.append({part: figure.median for part, figure in zip(PARTS, ours)})
    measured = len(columns) > len(rows)
    role = OURS if measured else PAPER  # of a part: its bars are in both
    series = [Series(part, role, [Point(column[part], row) for row, column in enumerate(columns)]) for part in PARTS]
    return Chart("mapping", "Where the processors' time goes", papers.cite(papers.place("begel2001.table3")) + "; " +
                 papers.place("begel2001.table4")["place"], [
        "Of all work that the processors do for one operation (a short request of Active Messages with its reply; a get of "
        "Split-C), each part's share. Ours is AMVIAv3, as the paper's; v1 and channels, the form of today, where they are named.",
        "Base VI: posting and completing descriptors. Event notification: looking at completion queues. Flow control: credits. "
        "Semantics: what Active Messages or Split-C do with the message."],
        Axis("share of the processors' time, per cent", "percent", log=False, low=0, high=100), Axis("", ""), series,
        ["mapping"], kind="stack", categories=categories,
        not_ours="" if measured else "Our own shares are not measured yet: these bars are the paper's alone.")


CM5_PARTS = "lauria1998.figure2"


def guarantees(_results, papers):
    place = papers.place(CM5_PARTS)
    series = [Series(part, PAPER, [Point(share, 0)]) for part, share in place["parts"]]
    return Chart("guarantees", place["title"], papers.cite(place), [
        "Of 397 cycles for 16 words in four packets 216 were spent for guarantees that the network did not give."],
        Axis("share of the cycles, per cent", "percent", log=False, low=0, high=100), Axis("", ""), series, [],
        kind="stack", categories=["CM-5, paper"],
        not_ours="Ours is not measured by these rows: this bar is the paper's alone.")
