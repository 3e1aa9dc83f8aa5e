"""The first screen: what this machine can do in five numbers, each beside its limit and the papers' value."""
import dataclasses

import units


@dataclasses.dataclass
class Number:
    question: str
    answer: str  # our value
    explanation: str
    limit: str  # a sentence: the limit, its value, and how near this number is
    share: float | None  # of the limit's speed that is reached, 1 is all of it
    paper: str
    ratio: str
    programs: list
    key: str  # the figure


@dataclasses.dataclass(frozen=True)
class Ask:
    key: str
    question: str
    explanation: str
    limit: str  # the yardstick's key
    limit_words: str
    paper: str  # a row of papers.json
    paper_words: str
    inverse: bool = False  # the paper gives the time for one; ours is how many


ASKS = (
    Ask("logp.am_short_rtt_half_ns", "How long does one small message take?",
        "From the sender's call to the function that runs at the receiver, through Active Messages, with two words of data.",
        "logp.hand_over_ns", "the two processors need {} to hand one cache line over", "begel2001.table2.v3_lanai7.rtt_half",
        "AMVIAv3, 2001"),
    Ask("logp.am_oneway_mps", "How many small messages a second?",
        "One process sends without waiting for answers, and the other one runs a function for each.",
        "logp.ring_rate_mps", "the fastest bare ring in shared memory carries {}", "begel2001.table2.v3_lanai7.g",
        "AMVIAv3, 2001, one message each 30 µs", True),
    Ask("logp.am_bulk_1m_gbs", "How fast do large data arrive?",
        "One MiB, sent and then read by the receiver, again and again.",
        "logp.memcpy_1m_sum_gbs", "a plain memcpy, read by the receiver, reaches {}", "begel2001.figure5.am_plateau",
        "AMVIAv3, 2001"),
    Ask("logp.delta_ns", "What do Active Messages cost?",
        "Delta: what finding the function, counting credits and checking add to a bare message of the VI below.",
        "logp.vi_rtt_half_ns", "the bare VI message takes {}", "begel2001.table2.v3_lanai7.delta", "AMVIAv3, 2001"),
    Ask("splitc-ops.read_long_direct_ns", "How long to read another process' variable?",
        "Through a Split-C global pointer, on the same machine: the language's read is a load there.",
        "splitc-ops.plain_load_long_ns", "an ordinary load of one's own memory takes {}", "begel2001.figure2.read",
        "Split-C on the VI, 2001: below 71 µs"),
)


def _ratio(ask, results):
    """Figure / limit: the median of the ratios round by round, which the benchmark gives; else that of the medians."""
    figure, limit, ratio = results.get(ask.key), results.get(ask.limit), results.get(f"{ask.key}_ratio")
    if limit is None or limit.base <= 0 or figure.base <= 0:
        return None
    return ratio.median if ratio and ratio.median > 0 else figure.base / limit.base


def _limit_words(ask, results, ratio, share):
    limit = results.get(ask.limit)
    if limit is None:
        return "its limit was not measured in this run"
    words = ask.limit_words.format(limit.text)
    program, name = ask.limit.split(".")
    if name in results.benchmarks[program].get("machine", {}).get("suspect_yardsticks", []):
        words += ", which is slower than it should be, so that the share flatters"
    if share is not None:
        return f"{share * 100:.0f} % of the limit's speed: {words}"
    return f"{ratio * 100:.0f} % on top: {words}" if ratio is not None else words


def _paper(ask, figure, papers):
    """The paper's words, and how much better this machine is: of a time for one message also the number a second."""
    value = papers.value(ask.paper)
    text, better, word = value.text, 0.0, "faster"
    if ask.inverse:
        rate = 1e3 / value.base  # million a second, of the time for one in ns
        text, better, word = units.amount(rate, "M/s"), figure.base / rate, "as many"
    elif figure.base > 0:
        better = value.base / figure.base if units.less_is_better(figure.unit) else figure.base / value.base
    words = ask.paper_words if "below" in ask.paper_words else f"{ask.paper_words}: {text}"
    return words, f"{units.digits(better)} times {word}" if better > 0 else ""


def numbers(results, papers):
    """Those of the five that were measured."""
    found = []
    for ask in ASKS:
        figure = results.get(ask.key)
        if figure is None:
            continue
        share = relative = _ratio(ask, results)
        if ask.key == "logp.delta_ns":
            share = None  # it is no speed
        elif relative is not None and units.less_is_better(figure.unit):
            share = 1 / relative
        paper, ratio = _paper(ask, figure, papers)
        found.append(Number(ask.question, figure.text, ask.explanation, _limit_words(ask, results, relative, share), share, paper,
                            ratio, [ask.key.split(".", maxsplit=1)[0]], ask.key))
    return found
