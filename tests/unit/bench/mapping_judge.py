#!/usr/bin/env python3
"""mapping_judge.py FIGURES: reads the figures of a run of mapping, and says whether all rows are there, their shares add up,
and the parts begin as often as the protocol says. No time is looked at.
Exit status: 0 all of that, 1 not, 2 there is nothing to judge by."""

import json
import sys

ROWS = {"base": ("send_done", "post_send", "recv_done", "post_recv", "recycle_send", "recycle_recv", "build"),
        "event": ("cq_send", "cq_recv"), "flow": ("bookkeeping", "PROCESSING"), "semantics": ("read_data", "act")}
# A channel has none of these.
OF_VIS = ("send_done", "recv_done", "post_recv", "recycle_send", "recycle_recv", "cq_send", "PROCESSING")
# Once for each of the two messages.
ONCE = ("post_send", "read_data", "act")
ONCE_OVER_VIS = ("post_recv", "recycle_recv")
# In all. A message over VIs is built in three steps, and taken in two; the queue of receives is asked for the operation and for
# its answer, by a get once more, and by each 32nd request. VIs have 28 credits:
# there the queue is asked after three quarters of them, by each 21st request, three times in a batch of 64.
IN_ALL = {("vi", "build"): 6, ("channel", "build"): 2, ("vi", "PROCESSING"): 6, ("vi", "recv_done"): 4}
ASKS = {"vi_am": 2 + 3 / 64, "channel_am": 2 + 2 / 64, "vi_get": 3, "channel_get": 2}
# Over VIs the message's bytes are read into the slot, and then the slot is read. Sends complete at every eighth poll.
# On a starved machine one operation in some hundreds is served outside its turn.
TOLERANCE = 0.01
FACTOR = {("vi", "read_data"): 2}


def wrong_counts(form, operation, count):
    kind = "channel" if form == "channel_" else "vi"
    for row in ONCE + (ONCE_OVER_VIS if kind == "vi" else ()):
        wanted = 2 * FACTOR.get((kind, row), 1)
        if abs(count(row) - wanted) > TOLERANCE:
            yield f"{row} begins {count(row)} times, not {wanted}"
    wanted = {row: times for (its_kind, row), times in IN_ALL.items() if its_kind == kind}
    wanted["cq_recv"] = ASKS[f"{kind}_{operation}"]
    for row, times in wanted.items():
        if abs(count(row) - times) > TOLERANCE * times:
            yield f"{row} begins {count(row)} times, not {times}"
    if kind == "channel":
        for row in OF_VIS:
            if count(row) != 0:
                yield f"{row} begins {count(row)} times: a channel has no such step"


def wrong_things(figures):
    for form in ("", "v1_", "channel_"):
        for operation, processing in (("am", "processing"), ("get", "push")):
            prefix = f"{form}{operation}_"

            def median(row, what, prefix=prefix, processing=processing):
                return figures[f"{prefix}{row.replace('PROCESSING', processing)}_{what}"]["median"]

            if abs(sum(median(group, "percent") for group in ROWS) - 100) > 0.01:
                yield f"{prefix}: the groups do not add up to 100 %"
            for group, rows in ROWS.items():
                if abs(sum(median(row, "percent") for row in rows) - median(group, "percent")) > 0.01:
                    yield f"{prefix}: the rows of {group} do not add up"
            for wrong in wrong_counts(form, operation, lambda row, median=median: median(row, "count")):
                yield f"{prefix}: {wrong}"


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with open(arguments[0], encoding="utf-8") as file:
            figures = json.load(file)["figures"]
    except (OSError, ValueError, KeyError) as problem:
        print(f"nothing to judge by: {problem}", file=sys.stderr)
        return 2
    try:
        found = list(wrong_things(figures))
    except KeyError as missing:
        found = [f"there is no figure {missing}"]
    print("\n".join(found) if found else "all rows are there, shares and counts are right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
