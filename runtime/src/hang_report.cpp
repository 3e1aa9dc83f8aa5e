#include "runtime/hang_report.hpp"
#include "viaduct/runtime/bootstrap.hpp"

#include <fmt/format.h>
#include <atomic>

namespace viaduct {
namespace {

/// Operation and peer are those of the last wait: a rank that computes is not in it any more.
std::string doing(const RankRecord& record, std::string_view operation, bool at_fence) {
  const Activity activity = record.activity.load(std::memory_order_relaxed);
  if (at_fence && operation != kEndingJob) return "at a fence of its Bootstrap";
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

/// The words for a rank in a handler: the handler waits itself, or a poll or a wait has called it.
std::string doing_in(const RankRecord& record, std::string_view operation,
                     const HandlerNow& handler, bool at_fence) {
  const std::string inside = fmt::format("in handler {}", handler.name);
  if (handler.waits) return fmt::format("{}, {}", inside, doing(record, operation, at_fence));
  const bool in_wait = record.activity.load(std::memory_order_relaxed) != Activity::computing;
  return in_wait && !operation.empty() ? fmt::format("{}, run by {}", inside, operation) : inside;
}

std::string since_last_poll(const RankRecord& record, std::uint64_t now_ns) {
  const std::uint64_t last = record.last_poll_ns.load(std::memory_order_relaxed);
  if (last == 0) return "has not polled yet";
  const double seconds = now_ns > last ? static_cast<double>(now_ns - last) * 1e-9 : 0.0;
  return fmt::format("last poll {:.3f} s ago", seconds);
}

/// Whether it may still come.
bool is_alive(const RankRecord& record) noexcept {
  const RankState state = record.state.load(std::memory_order_acquire);
  return state == RankState::starting || state == RankState::running;
}

/// Numbers of rounds are compared by their distance, which survives an overflow.
bool is_behind(std::uint32_t theirs, std::uint32_t mine) noexcept {
  return static_cast<std::int32_t>(theirs - mine) < 0;
}

bool has_come(const RankRecord& mine, const RankRecord& theirs) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  if (mine.activity.load(kRelaxed) == Activity::collective)
    return theirs.host != mine.host ||
           !is_behind(theirs.collective.load(kRelaxed), mine.collective.load(kRelaxed));
  if (mine.finalizing.load(kRelaxed) != 0) return theirs.finalizing.load(kRelaxed) != 0;
  return !is_behind(theirs.barrier_ticket.load(kRelaxed), mine.barrier_ticket.load(kRelaxed));
}

}  // namespace

Gathering gathering_of(JobPage& page, std::uint32_t ranks, std::uint32_t rank) {
  Gathering result;
  const RankRecord& mine = page.record(Rank{rank});
  const Activity activity = mine.activity.load(std::memory_order_relaxed);
  if (activity != Activity::barrier && activity != Activity::collective) return result;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const RankRecord& theirs = page.record(Rank{i});
    if (is_alive(theirs) && !has_come(mine, theirs)) result.absent.push_back(i);
  }
  return result;
}

std::string name_ranks(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t kMostParts = 8;
  std::vector<std::string> parts;
  std::size_t named = 0;
  while (named < ranks.size() && parts.size() < kMostParts) {
    std::size_t end = named + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - named < 3) end = named + 1;  // "1 and 2" rather than "1 to 2"
    parts.push_back(end - named == 1 ? fmt::format("{}", ranks[named])
                                     : fmt::format("{} to {}", ranks[named], ranks[end - 1]));
    named = end;
  }
  if (named < ranks.size()) parts.push_back(fmt::format("{} more", ranks.size() - named));
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

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
      return "failed";
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
    case Activity::collective:
      return "in a collective call";
  }
  return "doing something unknown";
}

std::string hang_line(const RankRecord& record, std::uint32_t rank, std::string_view operation,
                      std::uint64_t now_ns, const HandlerNow& handler, const Gathering& gathering) {
  const RankState state = record.state.load(std::memory_order_acquire);
  std::string line = fmt::format("rank {} (pid {}): {}", rank,
                                 record.pid.load(std::memory_order_relaxed), to_string(state));
  // 128 more than the number of the signal, where one has killed the process.
  const std::int32_t status = record.cause.load(std::memory_order_relaxed);
  if (state == RankState::killed && status != 0) line += fmt::format(", exit status {}", status);
  if (state != RankState::running) return line;
  line += fmt::format(", {}", handler.name.empty()
                                  ? doing(record, operation, gathering.at_fence)
                                  : doing_in(record, operation, handler, gathering.at_fence));
  if (!gathering.absent.empty())
    line += fmt::format(", not there yet: {}", name_ranks(gathering.absent));
  line += fmt::format("; credits in {}, out {}", record.credits_in.load(std::memory_order_relaxed),
                      record.credits_out.load(std::memory_order_relaxed));
  line += fmt::format("; bytes {} of {}", record.bytes_seen.load(std::memory_order_relaxed),
                      record.bytes_expected.load(std::memory_order_relaxed));
  return line + "; " + since_last_poll(record, now_ns);
}

}  // namespace viaduct
