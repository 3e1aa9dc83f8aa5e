"""What ./run report measures, and how long each part takes on two quiet cores."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Step:
    program: str
    what: str  # for the progress line
    arguments: tuple
    seconds: float  # on two quiet virtual CPUs; the time left is told by it
    busy: tuple = ()  # instead of `arguments` where other programs use the cores
    launcher: tuple = ("-n", "2", "--bind")  # (): the program launches others itself

    def command(self, folder, json_file, limit_seconds):
        """The command line; the launcher, or `timeout`, ends it after limit_seconds."""
        limit = str(int(limit_seconds))
        launcher = [f"{folder}/viaduct-run", *self.launcher, "--timeout", limit] if self.launcher else ["timeout", limit]
        return [*launcher, f"{folder}/{self.program}", "--json", json_file, *self.arguments]


QUICK = (
    Step("logp", "LogP and Active Messages", ("--rounds", "3", "--signature"), 16,
         ("--rounds", "3", "--iters", "1000", "--signature")),
    Step("splitc-ops", "operations of Split-C", ("--rounds", "3", "--type", "long"), 10,
         ("--rounds", "3", "--iters", "5000", "--type", "long")),
    Step("bulk", "bandwidth by size", ("--rounds", "2"), 30, ("--rounds", "1", "--iters", "64")),
    Step("vi", "the VI layer", ("--rounds", "2"), 14, ("--rounds", "3", "--iters", "200")),
)

FULL = (
    Step("logp", "LogP and Active Messages", ("--signature",), 45, ("--rounds", "11", "--iters", "2000", "--signature")),
    Step("vi", "the VI layer", ("--rounds", "7"), 60, ("--rounds", "7", "--iters", "200")),
    Step("am2", "Active Messages from C", ("--rounds", "5"), 20, ("--rounds", "11", "--iters", "2000")),
    Step("splitc-logp", "LogP of Split-C", (), 20, ("--rounds", "11", "--iters", "2000")),
    Step("splitc-ops", "operations of Split-C", ("--rounds", "7"), 60, ("--rounds", "7", "--iters", "5000")),
    Step("bulk", "bandwidth by size", ("--rounds", "7"), 90, ("--rounds", "3", "--iters", "64")),
    Step("mapping", "where the processors' time goes", ("--rounds", "3"), 40, ("--rounds", "5", "--iters", "2000"), launcher=()),
    Step("splitc-gups", "random updates", ("--rounds", "5"), 20),
    Step("oversubscription", "more ranks than cores", (), 30, launcher=("-n", "16")),
    Step("generations", "AMVIA's generations", ("--rounds", "5"), 5, ("--rounds", "5", "--iters", "2000")),
    Step("scale", "jobs of 1 to 32 ranks", ("--rounds", "3", "--ranks", "1,2,4,8,16,32"), 5, launcher=()),
    Step("limits", "what the machine itself can do", ("--rounds", "5"), 30),
)

# Before the first benchmark, and after each: how long a cache line takes from core to core just then.
PROBE = Step("logp", "probe", ("--parameters", "--rounds", "1", "--iters", "1000"), 0.5)

QUICK_SECONDS, FULL_SECONDS = 120, 900  # the whole run is to end within, on two quiet cores
LEAST_OF_PLAN, MOST_OF_PLAN = 1.5, 9.0  # times its planned seconds is what a step has in any case, and at most


def steps(quick, busy=False):
    """What is measured. Where other programs use the cores, rounds are short: a round of some 100 us falls between two
    interruptions more often than not, and a long one never."""
    plan = QUICK if quick else FULL
    return tuple(dataclasses.replace(step, arguments=step.busy or step.arguments) for step in plan) if busy else plan


def seconds(quick, busy=False):
    """What the whole run may take: on a busy machine three times as long."""
    return (QUICK_SECONDS if quick else FULL_SECONDS) * (3 if busy else 1)


def limit_of(number, quick, spent, busy=False):
    """How many seconds step `number` may take when `spent` are gone: all that the later ones do not need by the plan. The
    report does without a step that takes longer, which happens on a busy machine."""
    later = sum(step.seconds + PROBE.seconds for step in steps(quick)[number:])
    left = seconds(quick, busy) - spent - later
    planned = steps(quick)[number - 1].seconds
    return max(3 * LEAST_OF_PLAN if busy else LEAST_OF_PLAN, min(MOST_OF_PLAN, left / planned)) * planned


def programs(quick):
    return sorted({step.program for step in steps(quick)} | {PROBE.program})
