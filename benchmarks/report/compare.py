"""Two runs side by side: what changed beyond the noise.

The noise of a figure is its spread over the rounds, half of what lies between the least and the 95th percentile, of both
runs together, and 5 % at least: medians of two quiet runs differ by so much. With fewer than five rounds the spread is
known badly and counts twice. A figure whose own limit changed with it has not changed: then the machine has."""
import dataclasses

import units

LEAST_NOISE = 0.05
FEW_ROUNDS = 5

BETTER, WORSE, MACHINE, SAME, UNCLEAR = "better", "worse", "the machine changed", "within the noise", "cannot be told"


@dataclasses.dataclass
class Change:
    key: str
    old: str
    new: str
    change: float  # new / old - 1
    noise: float
    verdict: str

    @property
    def marked(self):
        """Whether it belongs in the table that everyone sees."""
        return self.verdict in (BETTER, WORSE, MACHINE)


def _spread(figure):
    if figure.median == 0:
        return 0.0
    half = (figure.high - figure.low) / 2 / abs(figure.median)
    return half * (2 if figure.rounds < FEW_ROUNDS else 1)


def _step(old, new):
    """(new / old - 1, noise)"""
    return new.base / old.base - 1, max(LEAST_NOISE, _spread(old) + _spread(new))


def _verdict(key, old, new, disturbed, results, earlier):
    change, noise = _step(old, new)
    if abs(change) <= noise:
        return change, noise, SAME
    if disturbed or min(old.rounds, new.rounds) < 2:
        return change, noise, UNCLEAR
    old_ratio, new_ratio = earlier.get(f"{key}_ratio"), results.get(f"{key}_ratio")
    if old_ratio and new_ratio and old_ratio.base > 0:
        of_limit, limit_noise = _step(old_ratio, new_ratio)
        if abs(of_limit) <= limit_noise:
            return change, noise, MACHINE
    return change, noise, BETTER if (change < 0) == units.less_is_better(new.unit) else WORSE


def changes(results, earlier, disturbed):
    """[Change] of the figures that both runs have, those beyond the noise first. `disturbed`: programs, of either run."""
    found = []
    for key in results.keys():
        old, new = earlier.get(key), results.get(key)
        if key.endswith("_ratio") or old is None or old.unit != new.unit or old.base <= 0 or new.base <= 0:
            continue
        change, noise, verdict = _verdict(key, old, new, key.split(".", maxsplit=1)[0] in disturbed, results, earlier)
        found.append(Change(key, old.text, new.text, change, noise, verdict))
    order = {WORSE: 0, BETTER: 1, MACHINE: 2, UNCLEAR: 3, SAME: 4}
    return sorted(found, key=lambda each: (order[each.verdict], -abs(each.change)))


def summary(found):
    """One sentence."""
    count = {verdict: sum(each.verdict == verdict for each in found) for verdict in (BETTER, WORSE, MACHINE, UNCLEAR, SAME)}
    return (f"Of {len(found)} figures that both runs have, {count[BETTER]} are better and {count[WORSE]} are worse beyond the "
            f"noise; {count[MACHINE]} changed together with the machine's own limit, {count[UNCLEAR]} changed where a run was "
            f"disturbed or had one round, and {count[SAME]} are within the noise.")
