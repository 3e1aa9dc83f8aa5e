"""Plots of bandwidth by size: Begel et al. 2001, figure 5; Lauria et al. 1998; Speight et al. 1999, figures 2 and 3."""
from chart import LIMIT, OURS, PAPER, Axis, Chart, Point, Series, figure_point

SIZE = Axis("size of the message or transfer", "size")
WAYS = (("vi_write", "VI, RDMA write"), ("am_bulk", "Active Messages, bulk"), ("splitc_bulk_put", "Split-C, bulk put"))


def curve(results, program, before, after="_gbs"):
    return [figure_point(size, figure) for size, figure in results.by_size(program, before, after)]


def sized(papers, name):
    """A paper's value at the size that the paper gives for it."""
    return Point(papers.row(name)["size"], papers.value(name).base)


def half_marks(results):
    """Where each way reaches half of its highest bandwidth."""
    points = []
    for way, text in WAYS:
        size, plateau = results.get(f"bulk.{way}_n_half_bytes"), results.get(f"bulk.{way}_plateau_gbs")
        if size and plateau:
            points.append(Point(size.base, plateau.base / 2))
    return points


def figure5(results, papers):
    place = papers.place("begel2001.figure5")
    series = [Series(text, OURS, curve(results, "bulk", way, "_alone_gbs")) for way, text in WAYS]
    series.append(Series("limit: memcpy into the other's memory", LIMIT, curve(results, "bulk", "memcpy"), marks=False))
    series.append(Series("n-half: half of the highest bandwidth", OURS, half_marks(results), lines=False, color=5))
    plateau = papers.value("begel2001.figure5.vi_plateau").base
    knee = papers.row("begel2001.figure5.am_plateau")["size"]
    series.append(Series("paper: VI on LANai 7, 32 bytes and highest", PAPER, [
        sized(papers, "begel2001.figure5.vi_32"), Point(32768, plateau)], lines=False))
    series.append(Series("paper: AMVIAv3 and Split-C, plateau", PAPER, [
        sized(papers, "begel2001.figure5.am_plateau"), Point(32768, papers.value("begel2001.figure5.am_plateau").base)]))
    return Chart("figure5", place["title"], papers.cite(place), [
        "How many bytes a second arrive when transfers of one size follow one another. Both axes are logarithmic.",
        "Small transfers are slow because each pays a fixed cost; n-half is the size that reaches half of the highest bandwidth.",
        f"Of the paper's curves only these values are in its text; the plateau begins at {knee} bytes.",
        "Above 1 MiB a transfer does not fit the caches."],
        SIZE, Axis("bandwidth", "bandwidth"), series, ["bulk"])


def share(results, papers):
    place = papers.place("lauria1998.figure4")
    series = []
    below = dict(results.by_size("bulk", "vi_write", "_alone_gbs"))
    for way, text in WAYS[1:]:
        points = [Point(size, figure.base / below[size].base * 100, rounds=figure.rounds)
                  for size, figure in results.by_size("bulk", way, "_alone_gbs") if size in below]
        series.append(Series(f"{text}, of our VI", OURS, points))
    series.append(Series("limit: the lower layer itself", LIMIT, [Point(8, 100), Point(2**26, 100)] if below else [], marks=False))
    series.append(Series("paper: AMVIAv3 and Split-C of the VI", PAPER, [
        Point(size, papers.value("begel2001.figure5.am_share").number) for size in (4096, 32768)]))
    series.append(Series("paper: MPI of FM 1.x, at most", PAPER, [
        Point(size, papers.value("lauria1998.figure4.fm1").number) for size in (16, 2048)]))
    series.append(Series("paper: MPI of FM 2.x, 16 bytes and highest", PAPER, [
        Point(16, papers.value("lauria1998.figure4.fm2_16").number), Point(2048, papers.value("lauria1998.figure4.fm2").number)],
        lines=False))
    return Chart("share", place["title"], f"{papers.cite(place)}; {papers.cite(papers.place('begel2001.figure5'))}", [
        "The bandwidth of an upper layer, as a share of that of the layer below it, for transfers of the same size.",
        "This is what can be compared over 25 years: not how fast the machine is, but what the software leaves of it. "
        "Above 100 % the upper layer found a better way than the VI's write (a plain copy by the processor, for one)."],
        SIZE, Axis("share of the lower layer's bandwidth, %", "percent", log=False, low=0), series, ["bulk"])


def half_power(results, papers):
    place = papers.place("lauria1998.figure3")
    series = [Series(f"paper: {text}", PAPER, [Point(papers.value(f"lauria1998.{figure}.n_half").base,
                                                     papers.value(f"lauria1998.{figure}.peak").base)], lines=False)
              for figure, text in (("figure3", "FM 1.x"), ("figure5", "FM 2.1, n-half below this"))]
    for way, text in WAYS:
        size, plateau = results.get(f"bulk.{way}_n_half_bytes"), results.get(f"bulk.{way}_plateau_gbs")
        if size and plateau:
            series.append(Series(text, OURS, [Point(size.base, plateau.base, *plateau.base_range, rounds=plateau.rounds)],
                                 lines=False))
    size, plateau = results.get("bulk.memcpy_n_half_bytes"), results.get("bulk.memcpy_plateau_gbs")
    if size and plateau:
        series.append(Series("limit: memcpy", LIMIT, [Point(size.base, plateau.base)], lines=False))
    return Chart("half_power", "Highest bandwidth, and the size that reaches half of it",
                 f"{papers.cite(place)}; {papers.place('lauria1998.figure5')['place']}", [
        "Further left, short messages are already fast; further up, long ones are.",
        "A layer below another one should lie left of it and above it."],
        Axis("n-half", "size"), Axis("highest bandwidth", "bandwidth"), series, ["bulk"])


def ethernet(results, papers):
    """A calculation of the paper's, for which no measurement is needed: a fixed cost and a link."""
    place = papers.place("lauria1998.figure1")
    cost = papers.value("lauria1998.figure1.overhead").base
    sizes = [2.0**power for power in range(3, 21)]
    series = []
    for rate, text in ((12.5e6, "100 Mbit/s"), (125e6, "1 Gbit/s")):
        points = [Point(size, size / (cost + size / rate * 1e9) * 1e9) for size in sizes]
        series.append(Series(f"paper: {text} Ethernet, calculated", PAPER, points, marks=False))
    series.append(Series("Active Messages, bulk", OURS, curve(results, "bulk", "am_bulk", "_alone_gbs")))
    return Chart("ethernet", place["title"], papers.cite(place), place["means"][:1] + [
        "A link of ten times the speed hardly helps messages below some hundred bytes. Our curve is what remains when the fixed "
        "cost is small."],
        SIZE, Axis("bandwidth", "bandwidth"), series, ["bulk"])


def vi_bandwidth(results, papers):
    place = papers.place("speight1999.figure2")
    ways = (("vi_send", "VI, send and receive"), ("vi_write", "VI, RDMA write"), ("vi_read", "VI, RDMA read"))
    series = [Series(text, OURS, curve(results, "vi", way)) for way, text in ways]
    series.append(Series("limit: memcpy", LIMIT, curve(results, "vi", "memcpy"), marks=False))
    peak = papers.value("speight1999.table1.clan").base
    series.append(Series("paper: cLAN, one size", PAPER, [sized(papers, "speight1999.figure2.clan_64k")], lines=False))
    series.append(Series("paper: cLAN, advertised peak", PAPER, [Point(1, peak), Point(2**20, peak)], marks=False))
    return Chart("vi_bandwidth", place["title"], papers.cite(place), [
        "Three ways to move bytes through a VI, beside memcpy into memory that both processes have mapped.",
        "The memory is the program's own, as a program that uses the VI has it. On shared memory each transfer of more than 56 "
        "bytes to such memory is a system call, so that small ones are slow.",
        place["means"][0]],
        SIZE, Axis("bandwidth", "bandwidth"), series, ["vi"])
