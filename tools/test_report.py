#!/usr/bin/env python3
"""Reads a JUnit report that ctest has written, and prints one part of it.

usage: test_report.py counts REPORT            one line: PASSED FAILED SKIPPED
       test_report.py skipped REPORT           one line for each skipped test, with the reason
       test_report.py slowest N REPORT         the N slowest tests, slowest first, with their share of the whole
       test_report.py failed REPORT            one line for each failed test, with its time
       test_report.py first-failure REPORT     the output of the first test that failed; nothing if none failed

A test that ctest could not start (its program is missing) counts as failed. A report that cannot be read is an error:
exit status 2, and one sentence on standard error.
"""
import sys
import xml.etree.ElementTree as xml

# How ctest marks a test that said "cannot run here", by its exit code or in GoogleTest's words.
SKIPPED_BY_ITSELF = ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION_MATCHED")
FAILURE_LINES = 200  # of a failed test's output: the end, where the reason is


def give_up(sentence):
    print(f"test_report.py: {sentence}", file=sys.stderr)
    sys.exit(2)


class Case:
    def __init__(self, node):
        self.name = node.get("name")
        self.seconds = float(node.get("time") or 0)
        skipped = node.find("skipped")
        self.reason = skipped.get("message", "") if skipped is not None else ""
        status = node.get("status")
        self.skipped = status == "disabled" or self.reason.startswith(SKIPPED_BY_ITSELF)
        self.failed = not self.skipped and status != "run"
        self.output = node.findtext("system-out") or self.reason


def read(path):
    try:
        cases = [Case(node) for node in xml.parse(path).getroot().iter("testcase")]
    except (OSError, xml.ParseError, ValueError) as error:
        give_up(f"the report {path} cannot be read: {error}. ctest writes it at its end: was ctest stopped?")
    return cases


def counts(cases):
    failed = sum(case.failed for case in cases)
    skipped = sum(case.skipped for case in cases)
    print(len(cases) - failed - skipped, failed, skipped)


def skipped(cases):
    for case in cases:
        if case.skipped:
            print(f"    skipped: {case.name}")


def slowest(cases, number):
    total = sum(case.seconds for case in cases)
    if not cases:
        return
    ranked = sorted(cases, key=lambda case: -case.seconds)[:number]
    share = 100 * sum(case.seconds for case in ranked) / total if total else 0
    print(f"the {len(ranked)} slowest of {len(cases)} tests ({share:.0f} % of {total:.0f} test seconds):")
    for case in ranked:
        print(f"{case.seconds:8.1f} s  {case.name}")


def failed(cases):
    for case in cases:
        if case.failed:
            print(f"    failed: {case.name} ({case.seconds:.1f} s)")


def first_failure(cases):
    for case in cases:
        if case.failed:
            lines = case.output.rstrip("\n").split("\n")
            print(f"--- output of {case.name}, which failed after {case.seconds:.1f} s:")
            if len(lines) > FAILURE_LINES:
                print(f"--- ({len(lines) - FAILURE_LINES} lines are left out)")
            print("\n".join(lines[-FAILURE_LINES:]))
            return


def main(words):
    if words in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    plain = {"counts": counts, "skipped": skipped, "failed": failed, "first-failure": first_failure}
    if len(words) == 2 and words[0] in plain:
        plain[words[0]](read(words[1]))
    elif len(words) == 3 and words[0] == "slowest" and words[1].isdigit():
        slowest(read(words[2]), int(words[1]))
    else:
        give_up("wrong command line; --help shows the right ones")


main(sys.argv[1:])
