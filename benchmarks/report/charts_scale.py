"""Plots by the number of ranks: benchmark scale. The papers have none: their machines had a process for each node."""
from chart import LIMIT, OURS, Axis, Chart, Series, figure_point

SOURCE = "of this project: the papers ran one process on each node"
RANKS = Axis("ranks", "ranks")


def line(results, text, role, before, after):
    points = [figure_point(ranks, figure) for ranks, figure in results.by_number("scale", before, after)]
    return Series(text, role, points, marks=role == OURS)


def start(results, _papers):
    return Chart("scale_start", "The start of a job, by the number of its ranks", SOURCE, [
        "From the start of the launcher to when the last rank is in main(), and to when all have met in a first barrier.",
        "The limit is as many bare processes that map the same memory. Ranks beyond the number of cores share these."],
        RANKS, Axis("time", "time"), [
            line(results, "all ranks have met", OURS, "ready", "_ms"), line(results, "all ranks run", OURS, "start", "_ms"),
            line(results, "limit: bare processes", LIMIT, "bare_start", "_ms")], ["scale"])


def barrier(results, _papers):
    return Chart("scale_barrier", "A barrier of all ranks, by their number", SOURCE, [
        "The limit is the best barrier of as many bare processes: a counter, a counter with a yield, or the C library's.",
        "With more ranks than cores a barrier waits for the scheduler to run each of them in turn."],
        RANKS, Axis("time", "time"), [
            line(results, "barrier of Active Messages", OURS, "barrier", "_ns"),
            line(results, "limit: bare processes", LIMIT, "bare_barrier", "_ns")], ["scale"])
