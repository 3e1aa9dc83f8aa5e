"""All plots of the page, in its order. A plot without any data is left out."""
import charts_am
import charts_bandwidth
import charts_scale
import charts_vi

MAKERS = (
    charts_am.table2, charts_am.signature, charts_bandwidth.figure5, charts_bandwidth.share, charts_vi.splitc, charts_vi.types,
    charts_am.table1, charts_vi.latency, charts_bandwidth.vi_bandwidth, charts_vi.waiting, charts_vi.processor,
    charts_vi.registration, charts_bandwidth.half_power, charts_bandwidth.ethernet, charts_am.mapping, charts_am.guarantees,
    charts_scale.start, charts_scale.barrier,
)


def all_charts(results, papers):
    made = [make(results, papers) for make in MAKERS]
    return [chart for chart in made if not chart.empty]
