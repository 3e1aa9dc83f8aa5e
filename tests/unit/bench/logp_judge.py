#!/usr/bin/env python3
"""logp_judge.py PLAIN WITH PREFIX O_NS L_NS G_NS: reads the figures of two runs of a benchmark that
finds LogP's parameters, those whose names begin with PREFIX, and says whether they tell that provider
fault had o, L and g of so many nanoseconds in the second one. "-" as PLAIN: whether the times of WITH
are at least as long as these delays make them, however busy the machine is.

o_s, o_r and L are what the second run has more than the first one, g is what the second run has.
Each must be within 5 % of what was injected. What was not injected may change by 5 % of the largest
injected value, and by two hand-overs of a cache line, which the cores' places change.
Exit status: 0 they tell it, 1 they do not, 2 there is nothing to judge by."""

import json
import sys

TOLERANCE = 0.05


def medians(path, prefix):
    with open(path, encoding="utf-8") as file:
        figures = json.load(file)["figures"]
    found = {name: figures[prefix + name]["median"] for name in ("o_s_ns", "o_r_ns", "L_ns", "g_ns")}
    return found | {"hand_over_ns": figures["hand_over_ns"]["median"],
                    "logp_rtt_half_ns": figures[prefix + "logp_rtt_half_ns"]["median"]}


def long_enough(found, o, latency, gap):
    """A busy machine makes times longer, and differences of times anything. So o_r and L, which are
    differences, are not asked for: a round trip contains both. A part is left for blocks of which the
    network has done some work before they were timed."""
    well = True
    for name, has, least in (("o_s_ns", found["o_s_ns"], o),
                             ("logp_rtt_half_ns", found["logp_rtt_half_ns"], latency + 2 * o),
                             ("g_ns", found["g_ns"], max(gap, 2 * o))):
        good = has >= 0.75 * least
        well = well and good
        print(f"{'  ' if good else '! '}{name}: {has:.0f} ns, of which {least:.0f} were injected")
    return 0 if well else 1


def main(arguments):
    if len(arguments) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        prefix = arguments[2]
        found = medians(arguments[1], prefix)
        o, latency, gap = map(float, arguments[3:])
        if arguments[0] == "-":
            return long_enough(found, o, latency, gap)
        plain = medians(arguments[0], prefix)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        print(f"logp_judge.py: {problem!r}", file=sys.stderr)
        return 2
    hop = max(plain["hand_over_ns"], found["hand_over_ns"])
    most = max(o, latency, gap)
    well = True
    for name, injected in (("o_s_ns", o), ("o_r_ns", o), ("L_ns", latency), ("g_ns", gap)):
        if injected == 0 and name == "g_ns":
            continue  # whatever is slowest sets the pace
        has = found[name] - (plain[name] if name != "g_ns" else 0)
        allowed = TOLERANCE * injected if injected else TOLERANCE * most + 2 * hop
        good = abs(has - injected) <= allowed
        well = well and good
        print(f"{'  ' if good else '! '}{name}: {has:.0f} ns of {injected:.0f} injected "
              f"({(has / injected - 1) * 100:+.1f} %)" if injected else
              f"{'  ' if good else '! '}{name}: {has:.0f} ns, none injected")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
