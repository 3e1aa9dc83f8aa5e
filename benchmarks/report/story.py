"""All that the page says, as data: page.py and tables.py write the same story."""
import dataclasses

import advice
import charts
import compare
import headline
import load
import papers as papers_module


@dataclasses.dataclass
class Story:
    results: object
    papers: object
    numbers: list
    charts: list
    words: list  # advice for single words
    to_peer: list
    from_peer: list
    disturbed: dict  # {program: warnings}
    drowned: list  # figures that are left out
    earlier: object = None  # the older run
    changes: list = dataclasses.field(default_factory=list)

    def warnings_for(self, programs):
        """[(program, warnings)] of those that a plot or a number is made from."""
        return [(program, self.disturbed[program]) for program in programs if program in self.disturbed]

    def machine_line(self):
        machine = self.results.machine
        return (f"{machine.get('cpu', 'an unknown processor')}, {machine.get('cores', '?')} cores, "
                f"{machine.get('kernel', 'unknown kernel')}, {machine.get('compiler', 'unknown compiler')}")

    def run_line(self):
        kind = "a quick run, whose figures are rough" if self.results.quick else "a full run"
        if self.results.document.get("busy"):
            kind += ", with short rounds, since other programs used the cores"
        minutes = self.results.document.get("seconds", 0) / 60
        version = self.results.document.get("version")
        return f"Measured {self.results.made}" + (f", version {version}" if version else "") + f": {kind}, {minutes:.1f} minutes."

    def general_warnings(self):
        """What holds for the page as a whole."""
        said = []
        count = len(self.results.benchmarks)
        if self.disturbed:
            said.append(f"The machine was disturbed during {len(self.disturbed)} of {count} benchmarks. The figures made from "
                        "them show that the programs work, and the order of magnitude; repeat the run on a quiet machine.")
        least, most = load.pace(self.results)
        if least and most > load.PACE_CHANGE * least:
            said.append(f"The distance of the two cores changed between the benchmarks: a cache line took {least:.0f} ns from core "
                        f"to core during one and {most:.0f} ns during another. Compare figures of different benchmarks by "
                        "their limits only.")
        for program, why in self.results.document.get("missing", {}).items():
            said.append(f"There are no figures of {program}: {why}.")
        if self.drowned:
            said.append("These figures are left out, since on this busy machine they say only how the scheduler shared the cores: "
                        + ", ".join(self.drowned) + ".")
        suspects = sorted({name for run in self.results.benchmarks.values()
                           for name in run.get("machine", {}).get("suspect_yardsticks", [])})
        if suspects:
            said.append("These limits are slower than on a quiet machine of the kind that the project knows, so that ratios to them "
                        "flatter: " + ", ".join(suspects) + ".")
        return said

    def not_measured(self):
        """[(citation, title)] of the papers' places that no figure of ours stands beside."""
        return [(self.papers.cite(place), place["title"]) for place in self.papers.places
                if not any(self.papers.ours(row, self.results) for row in place["rows"])]


def tell(results, earlier=None):
    papers = papers_module.read()
    disturbed, drowned = load.disturbed(results), load.drowned(results)
    results.leave_out(drowned)
    story = Story(results, papers, headline.numbers(results, papers), charts.all_charts(results, papers), advice.words(results),
                  advice.to_peer(results), advice.from_peer(results), disturbed, drowned, earlier)
    if earlier:
        earlier.leave_out(load.drowned(earlier))
        either = set(disturbed) | set(load.disturbed(earlier))
        story.changes = compare.changes(results, earlier, either)
    return story
