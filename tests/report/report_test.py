#!/usr/bin/env python3
"""report_test.py ROOT: the page of ./run report, made from a recorded run (recorded.json), and what it is made by. No time
is looked at."""

import copy
import csv
import html.parser
import io
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
sys.path.insert(0, str(ROOT / "benchmarks/report"))
sys.dont_write_bytecode = True

import advice  # noqa: E402  (they lie in the folder of the report)
import charts  # noqa: E402
import gnuplot  # noqa: E402
import compare  # noqa: E402
import load  # noqa: E402
import page  # noqa: E402
import papers  # noqa: E402
import plan  # noqa: E402
import results  # noqa: E402
import story  # noqa: E402
import tables  # noqa: E402
import units  # noqa: E402

RECORDED = pathlib.Path(__file__).with_name("recorded.json")


def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


class Document(html.parser.HTMLParser):
    """Of each <figure>: its number of series, and what its plots draw, by the number of the plot's part."""

    DRAWS = ("path", "use", "polygon", "text", "rect")

    def __init__(self, text):
        super().__init__()
        self.figures, self.tags, self.attributes = {}, set(), []
        self.figure = self.variant = self.part = None
        self.depth = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs.items()]
        if tag == "figure":
            self.figure = self.figures.setdefault(attrs["id"], {"series": int(attrs["data-series"]), "wide": {}, "narrow": {}})
        elif tag == "div" and attrs.get("class") in ("wide", "narrow") and self.figure is not None:
            self.variant = self.figure[attrs["class"]]
        elif tag == "g" and self.variant is not None:
            if re.search(r"_plot_\d+$", attrs.get("id", "")):
                self.part, self.depth = attrs["id"], 0
                self.variant[self.part] = 0
            elif self.part:
                self.depth += 1
        elif self.part and tag in self.DRAWS:
            self.variant[self.part] += 1

    def handle_startendtag(self, tag, attrs):
        if tag != "g":
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag):
        if tag == "g" and self.part:
            self.depth -= 1
            if self.depth < 0:
                self.part = None
        elif tag == "figure":
            self.figure = self.variant = None


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.results = results.read(RECORDED)
        cls.story = story.tell(cls.results)
        cls.text = page.page(cls.story)
        cls.document = Document(cls.text)

    def test_every_plot_is_there_and_has_data(self):
        wanted = {f"plot-{chart.id}" for chart in self.story.charts}
        self.assertGreaterEqual(len(wanted), 14)
        self.assertEqual(wanted, set(self.document.figures))
        for chart in self.story.charts:
            figure = self.document.figures[f"plot-{chart.id}"]
            self.assertEqual(len(chart.series), figure["series"])
            for variant in ("wide", "narrow"):
                parts = figure[variant]
                self.assertGreaterEqual(len(parts), len(chart.series), f"{chart.id}, {variant}: a series has no part")
                if chart.kind != "stack":  # narrow parts of a bar have no number in them
                    self.assertFalse([part for part, drawn in parts.items() if drawn == 0], f"{chart.id}, {variant}: an empty part")
            for series in chart.series:
                self.assertIn(page._e(series.label), self.text)

    def test_every_mark_is_drawn(self):
        for chart in self.story.charts:
            marks = sum(len(series.points) for series in chart.series if series.marks)
            body = self.text.split(f'id="plot-{chart.id}"')[1].split("</figure>")[0]
            for variant in re.findall(r'<div class="(?:wide|narrow)".*?</svg>', body, re.S):
                drawn = variant.split("_plot_1", 1)[1]
                count = len(re.findall(r"<use ", drawn)) if chart.kind != "stack" else len(re.findall(r"<(?:path|polygon)", drawn))
                self.assertGreaterEqual(count, marks, chart.id)

    def test_the_plots_are_well_formed(self):
        plots = re.findall(r"<svg.*?</svg>", self.text, re.S)
        self.assertEqual(len(plots), 2 * len(self.story.charts))
        names = []
        for plot in plots:
            names += [node.get("id") for node in xml.fromstring(plot).iter() if node.get("id")]
        self.assertEqual(len(names), len(set(names)) + len(plots) - 1, "only gnuplot_canvas may be there twice")
        self.assertNotRegex("".join(plots), r"rgb\(|black|\bwhite\b", "a colour that does not follow the page")

    def test_it_needs_no_network_and_no_other_file(self):
        self.assertNotRegex(self.text, r"https?:|//[a-z]+\.|@import|url\((?!#)")
        self.assertFalse(self.document.tags & {"script", "link", "img", "iframe", "object", "embed"})
        self.assertFalse([each for each in self.document.attributes if each[1] in ("src", "href") and not each[2].startswith("#")])

    def test_every_variable_of_a_colour_is_set(self):
        used = set(re.findall(r"var\((--[\w-]+)\)", self.text))
        for block in re.findall(r":root \{(.*?)\}", self.text, re.S):
            self.assertFalse(used - set(re.findall(r"(--[\w-]+):", block)))
        self.assertEqual(3, len(re.findall(r":root \{", self.text)), "light, dark, paper")

    def test_the_five_numbers(self):
        self.assertEqual(5, len(self.story.numbers))
        for number in self.story.numbers:
            figure = self.results.get(number.key)
            self.assertEqual(figure.text, number.answer)
            self.assertIn(number.limit, html.unescape(self.text))
            self.assertRegex(number.limit, r"\d")
            self.assertRegex(number.paper, r"\d")

    def test_the_other_files_hold_the_same(self):
        points = sum(len(series.points) for chart in self.story.charts for series in chart.series)
        rows = list(csv.reader(io.StringIO(tables.csv_text(self.story))))
        self.assertEqual(points, len(rows) - 1)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        again = json.loads(tables.json_text(self.story))
        self.assertEqual(recorded()["benchmarks"], again["benchmarks"])
        self.assertEqual(points, sum(len(series["points"]) for plot in again["plots"] for series in plot["series"]))
        markdown = tables.markdown(self.story)
        for number in self.story.numbers:
            self.assertIn(f"**{number.answer}**", markdown)
        for chart in self.story.charts:
            self.assertIn(f"### {chart.title}", markdown)

    def test_advice_names_the_fastest_way(self):
        sizes = 0
        for row in advice.to_peer(self.results):
            sizes += 1
            values = {text: self.results.get(f"bulk.{way}_{self.size_name(row.size)}_gbs") for way, text in advice.TO_PEER}
            best = max(figure.base for figure in values.values() if figure)
            self.assertIn(row.value, [figure.text for figure in values.values() if figure and figure.base == best])
            for text, figure in values.items():
                if figure:
                    self.assertEqual(figure.base * advice.TIE >= best, text in row.use, f"{row.size}, {text}")
        self.assertGreater(sizes, 8)

    @staticmethod
    def size_name(text):
        number, unit = text.split()
        return number + {"B": "b", "KiB": "k", "MiB": "m"}[unit]

    @unittest.mock.patch("gnuplot.draw", lambda *_: "<svg></svg>")
    def test_what_is_not_measured_is_not_shown(self):
        document = recorded()
        document["benchmarks"] = {"logp": document["benchmarks"]["logp"]}
        told = story.tell(results.Results(document, "logp alone"))
        text = page.page(told)
        self.assertLess(len(told.numbers), 5)
        self.assertNotIn('id="plot-types"', text)
        body = text.split('id="plot-splitc"')[1].split("</figure>")[0]
        self.assertIn("Ours is not measured in this run", body)
        self.assertIn("not measured yet", text.split('id="papers"')[1])
        shares = text.split('id="plot-mapping"')[1].split("</figure>")[0]
        self.assertIn("not measured yet", shares)


# Where only the words of a page matter, nothing is drawn: it takes most of the time.
@unittest.mock.patch("gnuplot.draw", lambda *_: "<svg></svg>")
class Disturbance(unittest.TestCase):
    def run_of(self, **change):
        run = {"figures": {}, "machine": {"notes": []}, "load": {"other_cores": 0.0, "steal_cores": 0.0}, "probed": True,
               "probe_before_ns": 100.0, "probe_after_ns": 110.0}
        run.update(change)
        return load.warnings(run, 2)

    def test_what_disturbs_is_told(self):
        self.assertEqual([], self.run_of())
        self.assertIn("other programs used 0.7 of the 2 cores", self.run_of(load={"other_cores": 0.7, "steal_cores": 0})[0])
        self.assertIn("the host gave 25 %", self.run_of(load={"other_cores": 0, "steal_cores": 0.5})[0])
        self.assertIn("the cores moved", self.run_of(probe_after_ns=160.0)[0])
        self.assertIn("the cores moved", self.run_of(probe_before_ns=60.0)[0])
        self.assertIn("did not finish", self.run_of(probe_after_ns=None)[0])
        self.assertIn("undisturbed rounds", self.run_of(machine={"notes": ["3 rounds; too few were left, so that"]})[0])

    def test_the_clocks(self):
        with tempfile.TemporaryDirectory() as folder:
            stat = os.path.join(folder, "stat")
            tick = os.sysconf("SC_CLK_TCK")

            def clocks(user, steal):
                pathlib.Path(stat).write_text(f"cpu {user * tick} 0 0 9999 0 0 0 {steal * tick} 0 0\n", encoding="ascii")
                return load.Clocks(stat)

            before, after = clocks(100, 5), clocks(130, 7)
            after.wall, after.ours = before.wall + 10, before.ours + 20
            used = load.between(before, after)
        self.assertAlmostEqual(1.0, used["other_cores"])
        self.assertAlmostEqual(0.2, used["steal_cores"])

    def test_it_stands_where_it_matters(self):
        document = recorded()
        for run in document["benchmarks"].values():
            run["machine"]["notes"] = []
            run.update(load={"other_cores": 0.0, "steal_cores": 0.0}, probe_before_ns=100.0, probe_after_ns=100.0)
        quiet = page.page(story.tell(results.Results(document, "quiet")))
        self.assertNotIn("While ", quiet)
        document["benchmarks"]["bulk"]["load"]["other_cores"] = 1.5
        text = page.page(story.tell(results.Results(document, "busy")))
        sentence = "While bulk ran: other programs used 1.5 of the"
        for name, has in (("plot-figure5", True), ("plot-share", True), ("plot-table2", False), ("plot-latency", False)):
            body = text.split(f'id="{name}"')[1].split("</figure>")[0]
            self.assertEqual(has, sentence in body, name)
        self.assertIn(sentence, text.split('id="about"')[1])

    def test_what_the_scheduler_hides_is_left_out(self):
        document = recorded()
        run = document["benchmarks"]["vi"]
        for name, value in (("vipl_polling_rtt_half_ns", 8e6), ("vipl_blocking_rtt_half_ns", 2e4), ("vipl_polling_cpu_percent", 20.0)):
            run["figures"][name].update(min=value, median=value, p95=value)
        for other, left_out in ((1.5, ["vipl_polling_cpu_percent", "vipl_polling_rtt_half_ns"]), (0.0, [])):
            run["load"]["other_cores"] = other
            if not other:
                run["machine"]["notes"] = []
                run.update(probe_before_ns=100.0, probe_after_ns=100.0)
            told = story.tell(results.Results(copy.deepcopy(document), "busy"))
            self.assertLessEqual({f"vi.{name}" for name in left_out}, set(told.drowned))
            self.assertNotIn("vi.vipl_blocking_rtt_half_ns", told.drowned)
            self.assertEqual(bool(left_out), told.results.get("vi.vipl_polling_rtt_half_ns") is None)
            self.assertEqual(bool(left_out), "vi.vipl_polling_rtt_half_ns" in " ".join(told.general_warnings()))

    def test_cores_that_moved_between_benchmarks(self):
        document = recorded()
        document["benchmarks"]["logp"]["figures"]["hand_over_ns"]["median"] = 50.0
        document["benchmarks"]["vi"]["figures"]["hand_over_ns"]["median"] = 250.0
        said = " ".join(story.tell(results.Results(document, "moved")).general_warnings())
        self.assertIn("The distance of the two cores changed", said)


def made_up(seed, change=(), ratio=None, notes=()):
    """A run of 60 figures with noise of 3 % in 11 rounds each; `change` multiplies the median of one."""
    noise, figures = random.Random(seed), {}
    for number in range(60):
        name, unit = (f"a{number}_ns", "ns") if number % 2 else (f"a{number}_mps", "M/s")
        middle = 10.0 * (number + 1) * dict(change).get(name, 1.0)
        rounds = sorted(middle * noise.gauss(1.0, 0.03) for _ in range(11))
        figures[name] = {"min": rounds[0], "median": rounds[5], "p95": rounds[10], "unit": unit, "n": 11}
        if ratio and name in ratio:
            figures[f"{name}_ratio"] = {"min": ratio[name] * 0.98, "median": ratio[name], "p95": ratio[name] * 1.02, "unit": "x", "n": 11}
    return results.Results({"format": 1, "benchmarks": {"made": {"figures": figures, "machine": {"notes": list(notes)}}}}, "made up")


class Comparison(unittest.TestCase):
    def verdicts(self, new, old, disturbed=()):
        return {change.key.removeprefix("made."): change.verdict for change in compare.changes(new, old, disturbed)}

    def test_noise_alone_is_not_marked(self):
        marked = [change for seed in range(20) for change in compare.changes(made_up(seed), made_up(seed + 100), ())
                  if change.verdict != compare.SAME]
        self.assertLessEqual(len(marked), 2, f"of 1200 figures without a change: {marked}")

    def test_a_planted_change_is_marked(self):
        for factor in (1.3, 0.7):
            planted = {"a7_ns": factor, "a8_mps": factor}
            found = self.verdicts(made_up(1, planted.items()), made_up(2))
            slower, faster = (compare.WORSE, compare.BETTER)
            self.assertEqual(slower if factor > 1 else faster, found["a7_ns"])
            self.assertEqual(faster if factor > 1 else slower, found["a8_mps"])
            self.assertEqual(58, sum(verdict == compare.SAME for verdict in found.values()))

    def test_a_change_of_the_machine_or_beside_other_programs_is_none_of_ours(self):
        slow = {"a7_ns": 1.5}
        found = self.verdicts(made_up(1, slow.items(), ratio={"a7_ns": 1.1}), made_up(2, ratio={"a7_ns": 1.1}))
        self.assertEqual(compare.MACHINE, found["a7_ns"])
        found = self.verdicts(made_up(1, slow.items(), ratio={"a7_ns": 1.65}), made_up(2, ratio={"a7_ns": 1.1}))
        self.assertEqual(compare.WORSE, found["a7_ns"])
        self.assertEqual(compare.UNCLEAR, self.verdicts(made_up(1, slow.items()), made_up(2), {"made"})["a7_ns"])
        once = made_up(1, slow.items())
        once.get("made.a7_ns").rounds = 1
        self.assertEqual(compare.UNCLEAR, self.verdicts(once, made_up(2))["a7_ns"])

    def test_it_stands_on_the_page(self):
        old, new = made_up(2), made_up(1, {"a7_ns": 1.5}.items())
        text = page._comparison(story.tell(new, old))
        self.assertRegex(text, r"a7_ns</td>.*?class=\"worse\">worse<")
        self.assertEqual(1, len(re.findall(r"class=\"(?:worse|better)\"", text)))


class Papers(unittest.TestCase):
    papers = papers.read()

    def test_the_shares_add_up(self):
        for name in ("begel2001.table3", "begel2001.table4"):
            place = self.papers.place(name)
            self.assertAlmostEqual(100.0, sum(share for _, share in place["parts"]), delta=0.11)
            group, parts = None, {}
            for row in place["rows"]:
                if row["what"].startswith("- "):
                    parts[group] += row["value"]
                else:
                    group = row["what"]
                    parts[group] = 0.0
                    self.assertEqual(dict(place["parts"])[group], row["value"])
            for group, share in place["parts"]:
                self.assertAlmostEqual(share, parts[group], delta=0.11, msg=f"{name}, {group}")

    def test_ours_names_figures_that_exist(self):
        run = results.read(RECORDED)
        for place in self.papers.places:
            for row in place["rows"]:
                self.assertIn(units.dimension(row["unit"]), {"time", "bandwidth", "share", "size", "cycles"})
                if row["ours"] and "later" not in row:
                    ours = self.papers.ours(row, run)
                    self.assertIsNotNone(ours, f"{place['id']}.{row['id']}: {row['ours']}")
                    self.assertEqual(units.dimension(row["unit"]), units.dimension(ours.unit), row["id"])
            later = {row["later"] for row in place["rows"] if "later" in row}
            wanted = [sentence for sentence in place["means"] if not any(f"{{{name}." in str(sentence) for name in later)
                      and not (isinstance(sentence, dict) and run.get(sentence["unless"]))]
            self.assertEqual(len(wanted), len(self.papers.sentences(place, run)), f"{place['id']}: a sentence lacks a figure")

    def test_what_is_measured_later_finds_its_place(self):
        document = recorded()
        for program in ("generations", "mapping"):
            del document["benchmarks"][program]
        text = " ".join(tables.papers_markdown(results.Results(document, "now"), self.papers).split())
        self.assertIn("generations of our own are not measured yet", text)
        for program in ("generations", "mapping"):
            document["benchmarks"][program] = {"figures": {
                row["ours"].split(".")[1]: {"min": 9, "median": 10, "p95": 11, "unit": "%" if row["unit"] == "%" else "ns", "n": 5}
                for place in self.papers.places for row in place["rows"] if (row["ours"] or "").startswith(f"{program}.")}, "machine": {}}
        run = results.Results(document, "later")
        text = " ".join(tables.papers_markdown(run, self.papers).split())
        self.assertNotIn("generations of our own are not measured yet", text)
        self.assertIn("Event notification is 10.0 % of that work here.", text)
        made = {chart.id: chart for chart in charts.all_charts(run, self.papers)}
        self.assertEqual(["AM, paper", "get, paper", "AM, here", "get, here"], made["mapping"].categories)
        self.assertEqual("", made["mapping"].missing)
        self.assertIn("Viaduct, AMVIAv1", [series.label for series in made["table2"].series])

    def test_without_a_run_nothing_of_ours_is_said(self):
        text = tables.papers_markdown(None, self.papers)
        self.assertNotIn("{", text)
        rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("|  |")]
        self.assertEqual(sum(len(place["rows"]) for place in self.papers.places), len(rows))
        self.assertTrue(all("| not measured yet |" in row for row in rows))

    def test_the_picture_is_made_from_the_same_numbers(self):
        version = subprocess.run(["gnuplot", "--version"], capture_output=True, text=True, check=True).stdout
        if not version.startswith("gnuplot 5.4"):
            self.skipTest(f"another release of gnuplot draws with other words: {version}")
        made = {chart.id: chart for chart in charts.all_charts(results.read(RECORDED), self.papers)}
        self.assertEqual(gnuplot.picture(made["mapping"]), (ROOT / "docs/pictures/report.svg").read_text(encoding="utf-8"),
                         "the remedy: python3 benchmarks/report picture tests/report/recorded.json mapping "
                         ">docs/pictures/report.svg")

    def test_the_document_is_made_from_the_same_numbers(self):
        document = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
        run = results.read(RECORDED)
        run.leave_out(load.drowned(run))
        self.assertEqual(tables.papers_markdown(run, self.papers) + "\n", document,
                         "the remedy: python3 benchmarks/report papers tests/report/recorded.json >docs/papers.md")


class Commands(unittest.TestCase):
    def test_the_recorded_run_can_be_renewed(self):
        run = recorded()
        self.assertEqual(RECORDED.read_text(encoding="utf-8"), tables.record_text({**run, "plots": [1], "warnings": ["2"]}))

    def refused(self, *arguments):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "benchmarks/report"), *arguments], capture_output=True, text=True,
                              check=False)
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def test_bad_input_gets_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "old.json")
            wrong = copy.deepcopy(recorded())
            del next(iter(wrong["benchmarks"]["logp"]["figures"].values()))["median"]
            for text, words in (("{", "is no JSON"), ("[1]", "no report"), ('{"figures": {}}', "no report"),
                                ('{"format": 99, "benchmarks": {}}', "format 99"),
                                ('{"format": 1, "benchmarks": {}}', "holds no figures"),
                                ('{"format": 1, "benchmarks": {"logp": 3}}', "no table of figures"),
                                (json.dumps(wrong), "lacks min, median")):
                pathlib.Path(path).write_text(text, encoding="utf-8")
                self.assertIn(words, self.refused("check", folder, "--compare", path))
                self.assertIn(words, self.refused("page", path, folder))
            self.assertIn("cannot read", self.refused("page", os.path.join(folder, "none.json"), folder))
            self.assertIn("cannot make the folder", self.refused("page", str(RECORDED), path))
        self.assertIn("takes 2 files or folders", self.refused("page", str(RECORDED)))
        self.assertIn("invalid choice", self.refused("nonsense"))

    def test_the_plan_fits_its_time(self):
        for quick in (True, False):
            steps = plan.steps(quick)
            self.assertLess(sum(step.seconds + plan.PROBE.seconds for step in steps), plan.seconds(quick))
            for busy in (False, True):
                spent = 0.0
                for number, step in enumerate(steps, 1):
                    limit = plan.limit_of(number, quick, spent, busy)
                    self.assertGreater(limit, step.seconds)
                    spent += limit  # each takes all that it may
                self.assertLess(spent, 1.25 * plan.seconds(quick, busy))
            for chart in charts.all_charts(results.read(RECORDED), papers.read()):
                measured = {step.program for step in steps}
                of_full_runs = {"mapping", "generations", "scale", "splitc-logp"} if quick else set()
                self.assertLessEqual(set(chart.programs) - of_full_runs, measured)


class Units(unittest.TestCase):
    def test_amounts(self):
        for value, unit, text in ((0.14, "us", "140 ns"), (35600, "ns", "35.6 µs"), (0.044, "GB/s", "44.0 MB/s"), (0.59, "ns", "0.590 ns"),
                                  (64, "%", "64.0 %"), (0.0333, "M/s", "33,300/s"), (4096, "B", "4 KiB"), (115, "B", "115 B")):
            self.assertEqual(text, units.amount(value, unit))
        self.assertEqual([8, 65536, 2**20], [units.size_of(name) for name in ("8b", "64k", "1m")])


if __name__ == "__main__":
    unittest.main()
