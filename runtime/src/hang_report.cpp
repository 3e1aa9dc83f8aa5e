#include "runtime/hang_report.hpp"

#include <fmt/format.h>

namespace viaduct {
namespace {

/// Operation and peer are those of the last wait: a rank that computes is not in it any more.
std::string doing(const RankRecord& record, std::string_view operation) {
  const Activity activity = record.activity.load(std::memory_order_relaxed);
  std::string text = to_string(activity);
  if (activity == Activity::computing) return text;
  const std::uint32_t peer = record.waits_for_peer.load(std::memory_order_relaxed);
  if (operation == kEndingJob) return "ending its job";
  if (operation == kConnecting)
    return fmt::format("waiting for the connection of rank {}, which must poll", peer);
  if (!operation.empty()) text += fmt::format(" in {}", operation);
  if (peer != RankRecord::kNoPeer) text += fmt::format(", for rank {}", peer);
  return text;
}

/// What a rank in a handler does: waits there itself, or has called it from a poll or a wait.
std::string doing_in(const RankRecord& record, std::string_view operation,
                     const HandlerNow& handler) {
  const std::string inside = fmt::format("in handler {}", handler.name);
  if (handler.waits) return fmt::format("{}, {}", inside, doing(record, operation));
  const bool in_wait = record.activity.load(std::memory_order_relaxed) != Activity::computing;
  return in_wait && !operation.empty() ? fmt::format("{}, run by {}", inside, operation) : inside;
}

std::string since_last_poll(const RankRecord& record, std::uint64_t now_ns) {
  const std::uint64_t last = record.last_poll_ns.load(std::memory_order_relaxed);
  if (last == 0) return "has not polled yet";
  const double seconds = now_ns > last ? static_cast<double>(now_ns - last) * 1e-9 : 0.0;
  return fmt::format("last poll {:.3f} s ago", seconds);
}

}  // namespace

const char* to_string(RankState state) noexcept {
  switch (state) {
    case RankState::starting:
      return "starting";
    case RankState::running:
      return "running";
    case RankState::finalized:
      return "finalized";
    case RankState::left:
      return "left";
    case RankState::killed:
      return "killed";
  }
  return "in an unknown state";
}

const char* to_string(Activity activity) noexcept {
  switch (activity) {
    case Activity::computing:
      return "computing";
    case Activity::waiting_credit:
      return "waiting for a credit";
    case Activity::waiting_message:
      return "waiting for a message";
    case Activity::barrier:
      return "in a barrier";
  }
  return "doing something unknown";
}

std::string hang_line(const RankRecord& record, std::uint32_t rank, std::string_view operation,
                      std::uint64_t now_ns, const HandlerNow& handler) {
  const RankState state = record.state.load(std::memory_order_acquire);
  std::string line = fmt::format("rank {} (pid {}): {}", rank,
                                 record.pid.load(std::memory_order_relaxed), to_string(state));
  if (state != RankState::running) return line;
  line += fmt::format(", {}", handler.name.empty() ? doing(record, operation)
                                                   : doing_in(record, operation, handler));
  line += fmt::format("; credits in {}, out {}", record.credits_in.load(std::memory_order_relaxed),
                      record.credits_out.load(std::memory_order_relaxed));
  line += fmt::format("; bytes {} of {}", record.bytes_seen.load(std::memory_order_relaxed),
                      record.bytes_expected.load(std::memory_order_relaxed));
  return line + "; " + since_last_poll(record, now_ns);
}

}  // namespace viaduct
