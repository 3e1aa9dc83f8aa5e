"""Whether the machine was busy with something else, or its cores moved, while a benchmark ran: detected, not guessed.

Other programs are seen in /proc/stat: the time that all CPUs worked, less the time of the benchmark's own processes.
Steal is the time that the host gave to other virtual machines. Cores that moved are seen by a probe before and after each
benchmark: the time that one cache line takes from core to core."""
import os
import resource
import time

BUSY_CORES = 0.10  # of other programs: more than this disturbs a benchmark that uses two cores
STOLEN_SHARE = 0.02
SHORT_ROUNDS_CORES = 0.5  # of other programs before the run: with more than this only short rounds give anything
SLICE_NS = 5e5  # no figure in ns is as long on a quiet machine
OF_A_PROCESSOR = "_cpu_percent"  # a figure that is a share of a processor's time
PACE_CHANGE = 1.5  # the benchmarks themselves discard a round whose probes differ by more


class Clocks:
    """CPU time of the machine and of this program's children, at one moment, in seconds."""

    def __init__(self, stat_path="/proc/stat"):
        self.wall = time.monotonic()
        with open(stat_path, encoding="ascii") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        fields += [0] * (8 - len(fields))
        tick = os.sysconf("SC_CLK_TCK")
        user, nice, system, _idle, _wait, irq, softirq, steal = (field / tick for field in fields)
        self.busy = user + nice + system + irq + softirq
        self.steal = steal
        children, own = resource.getrusage(resource.RUSAGE_CHILDREN), resource.getrusage(resource.RUSAGE_SELF)
        self.ours = sum(usage.ru_utime + usage.ru_stime for usage in (children, own))


def between(before, after):
    """The load of the machine from one moment to the other, as it stands in the JSON."""
    seconds = max(after.wall - before.wall, 1e-9)
    other = max(0.0, (after.busy - before.busy) - (after.ours - before.ours))
    return {"seconds": seconds, "other_cores": other / seconds,
            "steal_cores": max(0.0, after.steal - before.steal) / seconds}


def now(seconds=1.0):
    """The load of the machine while this program sleeps."""
    before = Clocks()
    time.sleep(seconds)
    return between(before, Clocks())


def warnings(run, cores):
    """Sentences about what disturbed one benchmark; none when nothing did."""
    said = []
    load = run.get("load", {})
    other, steal = load.get("other_cores", 0), load.get("steal_cores", 0)
    if other > BUSY_CORES:
        said.append(f"other programs used {other:.1f} of the {cores} cores")
    if steal > STOLEN_SHARE * cores:
        said.append(f"the host gave {steal / cores * 100:.0f} % of the machine's time to others")
    before, after = run.get("probe_before_ns"), run.get("probe_after_ns")
    if run.get("probed") and (before is None or after is None):
        said.append("the probe of the cores did not finish")
    elif before and after and max(before, after) > PACE_CHANGE * min(before, after):
        said.append(f"the cores moved: a cache line took {before:.0f} ns from core to core before, {after:.0f} ns after")
    for note in run.get("machine", {}).get("notes", []):
        if "too few were left" in note or "other programs use these cores" in note:
            said.append("the benchmark could not get enough undisturbed rounds")
            break
    return said


def disturbed(results):
    """{program: warnings} of all benchmarks that were disturbed."""
    cores = results.machine.get("cores", 1)
    found = {program: warnings(run, cores) for program, run in results.benchmarks.items()}
    return {program: said for program, said in found.items() if said}


def drowned(results):
    """Figures of disturbed benchmarks that say only how the scheduler shared the cores: times of one message that are as
    long as its slices, and shares of a processor."""
    found = disturbed(results)
    return sorted(key for key in results.keys() if key.split(".", maxsplit=1)[0] in found and
                  ((key.endswith("_ns") and results.get(key).base > SLICE_NS) or key.endswith(OF_A_PROCESSOR)))


def pace(results):
    """(least, most) hand-over time among the benchmarks' own, in ns: whether they ran on the same distance of cores."""
    times = [figure.median for program in results.benchmarks
             if (figure := results.get(f"{program}.hand_over_ns"))]
    return (min(times), max(times)) if times else (0.0, 0.0)
