"""What to use for which size: of the ways that were measured, the fastest for each size."""
import dataclasses

import units

TIE = 1.05  # ways that are so near to the fastest one are as good

TO_PEER = (("am_bulk", "Active Messages, bulk"), ("splitc_bulk_put", "Split-C bulk_put"),
           ("splitc_bulk_store", "Split-C bulk_store"), ("vi_write", "VI, RDMA write"))
FROM_PEER = (("splitc_bulk_get", "Split-C bulk_get"),)
HAND_OVER = "hand_over_ns"
WORDS = (("write_long_direct_ns", "a word written", "assignment through a global pointer", "plain_store_long_ns", "plain store"),
         ("read_long_direct_ns", "a word read", "read through a global pointer", "plain_load_long_ns", "plain load"),
         ("put_long_message_ns", "many words, by message", "put, and one sync() for all", HAND_OVER, "one line handed over"),
         ("store_long_message_ns", "many words that the target counts", "store", HAND_OVER, "one line handed over"))


@dataclasses.dataclass
class Row:
    size: str
    use: str  # the ways that are as good as the fastest one
    value: str
    limit: str
    share: float | None


def words(results):
    rows = []
    for name, what, use, beside, words_of_limit in WORDS:
        figure = results.get(f"splitc-ops.{name}")
        if figure:
            limit = results.get(f"splitc-ops.{beside}")
            share = limit.base / figure.base if limit and figure.base > 0 and beside != HAND_OVER else None
            rows.append(Row(what, use, figure.text, f"{words_of_limit}: {limit.text}" if limit else "", share))
    return rows


def _best(results, ways, limit_way):
    sizes = sorted({size for way, _ in ways for size, _ in results.by_size("bulk", way)})
    limits = dict(results.by_size("bulk", limit_way, "_sum_gbs"))
    rows = []
    for size in sizes:
        found = [(dict(results.by_size("bulk", way)).get(size), text) for way, text in ways]
        found = sorted(((figure.base, figure, text) for figure, text in found if figure), key=lambda each: -each[0])
        ratio = results.get(f"{found[0][1].key}_ratio")  # to memcpy, round by round
        best = found[0][0]
        good = [text for value, _, text in found if value * TIE >= best]
        limit = limits.get(size)
        rows.append(Row(units.size(size), " or ".join(good), found[0][1].text, f"memcpy: {limit.text}" if limit else "",
                        ratio.median if ratio else None))
    return rows


def to_peer(results):
    """Data that this process has and the other one reads, until it has read them."""
    return _best(results, TO_PEER, "memcpy_put")


def from_peer(results):
    return _best(results, FROM_PEER, "memcpy_get")
