"""Plots of the VI layer's latency, waiting and registration (Speight et al. 1999), and of Split-C's operations."""
from chart import LIMIT, OURS, PAPER, Axis, Chart, Point, Series, row_limits, row_series
from charts_bandwidth import SIZE, curve, sized


def latency(results, papers):
    place = papers.place("speight1999.figure4")
    series = [Series("VI, send and receive", OURS, curve(results, "vi", "vi_rtt_half", "_ns"))]
    sockets = [(text, results.get(f"vi.{name}_rtt_half_ns")) for name, text in (("udp", "UDP"), ("tcp", "TCP"))]
    series += [Series(f"this machine's sockets, 8 bytes by {text}", OURS, [Point(8, figure.base, *figure.base_range,
                                                                               rounds=figure.rounds)], lines=False)
               for text, figure in sockets if figure]
    hand_over, copies = results.get("vi.hand_over_ns"), results.by_size("vi", "copy", "_ns")
    if hand_over:
        series.append(Series("limit: a cache line from core to core, and memcpy of the size", LIMIT,
                             [Point(1, hand_over.base)] + [Point(size, hand_over.base + copy.base) for size, copy in copies],
                             marks=False))
    for name, text in (("clan_blocking", "paper: cLAN, blocking"), ("clan_polling", "paper: cLAN, polling")):
        points = [sized(papers, f"speight1999.figure4.{name}")]
        if name == "clan_polling":
            points.append(sized(papers, "speight1999.figure4.clan_large"))
        series.append(Series(text, PAPER, points, lines=False))
    return Chart("latency", place["title"], papers.cite(place), [
        "Half of a round trip: the time from the sender's call to when the receiver has the message.",
        "The flat part is the fixed cost of a message, the slope behind it is the time for the bytes."],
        SIZE, Axis("time, one way", "time"), series, ["vi"])


def waiting(results, papers):
    place = papers.place("speight1999.figure5")
    polling, blocking = results.get("vi.vipl_polling_rtt_half_ns"), results.get("vi.vipl_blocking_rtt_half_ns")
    paper_rows = (("clan_polling", 0), ("clan_blocking", 1))
    series = [Series("paper: cLAN, small message", PAPER, [
        Point(papers.value(f"speight1999.figure4.{name}").base, row) for name, row in paper_rows], lines=False)]
    series.append(row_series("Viaduct, by VIPL", ((0, polling), (1, blocking))))
    series.append(row_limits("limit: a cache line; a wake-up by futex",
                             ((0, results.get("vi.hand_over_ns")), (1, results.get("vi.futex_wake_ns")))))
    return Chart("waiting", place["title"], f"{papers.cite(place)}; {papers.place('speight1999.figure4')['place']}", [
        "A receiver that polls takes a message at once and uses a whole core; one that blocks must be woken by the kernel first.",
        "The messages come every 3 ms, so that a blocking receiver really sleeps."],
        Axis("time of a small message, one way", "time"), Axis("", ""), series, ["vi"], kind="dots",
        categories=["polling", "blocking"])


def processor(results, papers):
    place = papers.place("speight1999.figure6")
    series = [Series("paper: small messages (polling: about; blocking: above)", PAPER, [
        Point(papers.value(f"speight1999.figure6.{name}").number, row) for row, name in enumerate(("polling", "blocking"))],
        lines=False)]
    rows = ((0, results.get("vi.vipl_polling_cpu_percent")), (1, results.get("vi.vipl_blocking_cpu_percent")))
    series.append(Series("Viaduct, by VIPL, a message every 3 ms", OURS, [
        Point(figure.median, row, figure.low, figure.high, rounds=figure.rounds) for row, figure in rows if figure],
        lines=False))
    return Chart("processor", place["title"], papers.cite(place), [
        "Of one processor, how much the receiving process uses while it waits for messages.", place["means"][0].split(":")[0] + "."],
        Axis("share of a processor, per cent", "percent", log=False, low=0), Axis("", ""), series, ["vi"], kind="dots",
        categories=["polling", "blocking"])


def registration(results, papers):
    place = papers.place("speight1999.figure10")
    ways = (("vi_register", "registering and releasing"), ("vipl_register", "the same by VIPL"),
            ("cached_register", "by the registration cache"))
    series = [Series(text, OURS, curve(results, "vi", way, "_ns")) for way, text in ways]
    series.append(Series("limit: copying so many bytes instead", LIMIT, curve(results, "vi", "copy", "_ns"), marks=False))
    cost = papers.value("speight1999.figure10.clan").base
    series.append(Series("paper: cLAN, below 64 KiB", PAPER, [Point(4096, cost), Point(65536, cost)]))
    return Chart("registration", place["title"], papers.cite(place), [
        "Memory must be registered before a VI may touch it. Where registering costs more than copying, a program should copy."],
        SIZE, Axis("time", "time"), series, ["vi"])


OPERATIONS = ("read", "write", "get", "put", "store")


def splitc(results, papers):
    place = papers.place("begel2001.figure2")
    series = []
    for path, text in (("direct", "Viaduct, direct: loads and stores"), ("message", "Viaduct, by message"),
                       ("rdma", "Viaduct, by the NIC's read and write")):
        found = [(row, results.get(f"splitc-ops.{op}_long_{path}_ns")) for row, op in enumerate(OPERATIONS)]
        series.append(row_series(text, found))
    plain = {"read": "load", "get": "load", "write": "store", "put": "store"}
    limits = [(row, results.get(f"splitc-ops.plain_{plain[op]}_long_ns")) for row, op in enumerate(OPERATIONS) if op in plain]
    series.append(row_limits("limit: a plain load or store", limits))
    series.append(Series("paper: LANai 7, a little below these", PAPER, [
        Point(papers.value(f"begel2001.figure2.{op}").base, row) for row, op in enumerate(OPERATIONS) if op != "store"], lines=False))
    return Chart("splitc", place["title"], papers.cite(place), [
        "The time of one operation on a long of another process, when many follow one another. Further left is faster.",
        "Reads and writes wait for their end; gets and puts are begun one after the other and waited for together; a store is "
        "counted by its target.", place["means"][0]],
        Axis("time of one operation", "time"), Axis("", ""), series, ["splitc-ops"], kind="dots", categories=list(OPERATIONS))


def types(results, _papers):
    """Figure 2's other direction: whether the type matters. Only where more types than one were measured."""
    names = ("char", "short", "int", "long", "float", "double")
    series = []
    for op in OPERATIONS:
        found = [(row, results.get(f"splitc-ops.{op}_{name}_message_ns")) for row, name in enumerate(names)]
        series.append(row_series(f"{op} by message", found))
    measured = [line for line in series if len(line.points) > 1]
    return Chart("types", "Operations of Split-C by type", "after Begel et al. 2001, Figure 2", [
        "A message carries any type in the same cache line, so that the type should not matter."],
        Axis("time of one operation", "time"), Axis("", ""), measured, ["splitc-ops"], kind="dots", categories=list(names))
