#include "benchmarks/common/logp_report.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace viaduct::bench {

Samples differences(const Samples& from, const Samples& less) {
  Samples out = from;
  for (std::size_t round = 0; round < out.size(); ++round) out[round] -= less[round];
  return out;
}

void report(const Measurements& list, const Rounds& rounds, Figures& figures) {
  constexpr std::string_view kBoth = "o_both_ns";
  for (const Measurement& m : list) {
    const Samples& samples = list.of(rounds, m.name);
    if (m.against.empty()) {
      figures.add_yardstick(m.name, m.unit, samples);
      continue;
    }
    const Against against{m.against, 0, list.of(rounds, m.against)};
    if (!m.name.ends_with(kBoth)) {
      figures.add(m.name, m.unit, samples, against);
      continue;
    }
    const std::string prefix = m.name.substr(0, m.name.size() - kBoth.size());
    const auto of = [&](const char* name) { return list.of(rounds, prefix + name); };
    figures.add(prefix + "o_r_ns", m.unit, differences(samples, of("o_s_ns")), against);
    figures.add(prefix + "L_ns", m.unit, differences(of("logp_rtt_half_ns"), samples), against);
  }
}

}  // namespace viaduct::bench
