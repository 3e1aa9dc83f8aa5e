"""Runs the benchmarks one after the other, with a line of progress and the time left, and collects their results."""
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import load
import plan
from results import FORMAT, Problem, Results


class Progress:
    """One line on a terminal that is written anew each second; elsewhere a line for each step."""

    def __init__(self, steps, file, most):
        self.steps = steps
        self.most = most  # seconds that the whole run may take
        self.file = file
        self.spent = 0.0  # of the steps that are done: their time
        self.planned = 0.0  # and what the plan says of them
        self.terminal = file.isatty()
        self.stop = threading.Event()
        self.ticker = None

    def seconds_left(self, number, elapsed):
        """By the plan, at the pace of this machine so far."""
        pace = min(4.0, max(1.0, self.spent / self.planned)) if self.planned else 1.0
        rest = sum(step.seconds for step in self.steps[number:]) * pace
        left = max(0.0, self.steps[number - 1].seconds * pace - elapsed) + rest
        return min(left, max(5.0, self.most - self.spent - elapsed))

    def line(self, number, elapsed):
        left = self.seconds_left(number, elapsed)
        step = self.steps[number - 1]
        rest = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
        return f"measuring {number} of {len(self.steps)}: {step.what}, about {rest} left"

    def begin(self, number):
        start = time.monotonic()
        self.stop.clear()
        if not self.terminal:
            print(self.line(number, 0), file=self.file, flush=True)
            return

        def tick():
            while True:
                print(f"\r\033[K{self.line(number, time.monotonic() - start)}", end="", file=self.file, flush=True)
                if self.stop.wait(1.0):
                    return

        self.ticker = threading.Thread(target=tick, daemon=True)
        self.ticker.start()

    def end(self, step, seconds):
        self.spent += seconds
        self.planned += step.seconds
        self.stop.set()
        if self.ticker:
            self.ticker.join()
            self.ticker = None
            print("\r\033[K", end="", file=self.file, flush=True)


def run_step(step, folder, limit):
    """(the benchmark's JSON or None, why there is none)"""
    with tempfile.TemporaryDirectory() as work:
        file = os.path.join(work, "figures.json")
        command = step.command(folder, file, limit)
        try:
            # The launcher ends itself after `limit`; this one is for a launcher that does not.
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  errors="replace", timeout=limit + 30, check=False)
        except subprocess.TimeoutExpired:
            return None, f"it took longer than {limit + 30:.0f} s"
        except OSError as error:
            return None, f"{command[0]}: {error.strerror}"
        if done.returncode == 124:
            return None, f"it took longer than {limit:.0f} s, which happens on a busy machine"
        if done.returncode != 0:
            last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
            return None, f"it ended with status {done.returncode}: {last}"
        try:
            return json.loads(pathlib.Path(file).read_text(encoding="utf-8")), ""
        except (OSError, ValueError) as error:
            return None, f"its JSON cannot be read: {error}"


def probe(folder):
    """How long a cache line takes from core to core just now, in ns; None when that does not end in time."""
    document, _ = run_step(plan.PROBE, folder, 10)
    return document["figures"]["hand_over_ns"]["median"] if document else None


def measure(folder, quick, file=sys.stderr, version=""):
    """Runs all steps of the plan.  Raises Problem when not one of them gave figures."""
    busy = load.now()["other_cores"] > load.SHORT_ROUNDS_CORES
    if busy:
        print("other programs use the cores: the rounds are made short, and the page says what was disturbed", file=file)
    steps = plan.steps(quick, busy)
    progress = Progress(steps, file, plan.seconds(quick, busy))
    began = time.monotonic()
    benchmarks, missing = {}, {}
    before = probe(folder)
    for number, step in enumerate(steps, 1):
        progress.begin(number)
        clocks = load.Clocks()
        document, why = run_step(step, folder, plan.limit_of(number, quick, time.monotonic() - began, busy))
        used = load.between(clocks, load.Clocks())
        progress.end(step, used["seconds"])
        after = probe(folder)
        if document is None:
            missing[step.program] = why
            print(f"no figures of {step.program}: {why}", file=file)
        else:
            benchmarks[step.program] = {
                "what": step.what, "arguments": list(step.arguments), "figures": document["figures"],
                "machine": document.get("machine", {}), "load": used, "probed": True,
                "probe_before_ns": before, "probe_after_ns": after}
        before = after
    if not benchmarks:
        raise Problem("no benchmark gave figures: " + "; ".join(f"{name}: {why}" for name, why in missing.items()))
    return Results({
        "format": FORMAT, "made": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "quick": quick, "busy": busy, "version": version, "seconds": time.monotonic() - began, "benchmarks": benchmarks,
        "missing": missing}, "this run")
