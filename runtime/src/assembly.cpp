#include "runtime/src/assembly.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace viaduct {
namespace {

constexpr std::size_t kMostNamed = 8;

const char* plural(std::size_t count) { return count == 1 ? "" : "s"; }

}  // namespace

std::string list_of(const std::vector<std::uint32_t>& numbers) {
  const std::size_t named = std::min(numbers.size(), kMostNamed);
  const bool more = named < numbers.size();
  std::string text;
  for (std::size_t i = 0; i < named; ++i) {
    if (i > 0) text += i + 1 == named && !more ? " and " : ", ";
    text += std::to_string(numbers[i]);
  }
  return more ? fmt::format("{} and {} more", text, numbers.size() - named) : text;
}

std::string Assembly::name_of(std::uint32_t rank) const {
  const Rank& it = ranks_[rank];
  return fmt::format("rank {} (pid {} on {})", rank, it.pid, it.host_name);
}

std::string Assembly::admit(const handshake::Caller& caller) {
  const std::string host = handshake::text_of(caller.host_name);
  const std::string who = fmt::format("rank {} (pid {} on {})", caller.rank, caller.pid, host);
  if (!failure_.empty()) return failure_;
  if (caller.size != handshake::kAskRankZero && caller.size != ranks_.size()) {
    if (!complete())
      failure_ = fmt::format(
          "{} says that the job has {} rank{}, rank 0 says {}: give all the same VIADUCT_SIZE", who,
          caller.size, plural(caller.size), ranks_.size());
    return failure_.empty()
               ? fmt::format("the job has {} ranks, not {}", ranks_.size(), caller.size)
               : failure_;
  }
  if (caller.rank >= ranks_.size())
    return fmt::format("{} is out of range: the job has ranks 0 to {}", who, ranks_.size() - 1);
  Rank& it = ranks_[caller.rank];
  if (it.come && complete())
    return fmt::format("{} is late: the job has begun, with {}", who, name_of(caller.rank));
  if (it.come) {
    duplicates_ += fmt::format("; {} came although {} was there", who, name_of(caller.rank));
    return fmt::format(
        "{} comes second: {} is there already; give each process its own "
        "VIADUCT_RANK",
        who, name_of(caller.rank));
  }
  it = {true, caller.pid, handshake::text_of(caller.host_key), host};
  ++come_;
  return {};
}

void Assembly::lose(std::uint32_t rank) {
  if (!failure_.empty()) return;
  failure_ = fmt::format("{} ended before the job had begun", name_of(rank));
}

std::string Assembly::missing(double seconds) const {
  std::vector<std::uint32_t> absent;
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    if (!ranks_[i].come) absent.push_back(i);
  }
  std::string text = fmt::format("rank{} {} of {} {} not come within {} s (VIADUCT_JOIN_TIMEOUT)",
                                 plural(absent.size()), list_of(absent), ranks_.size(),
                                 absent.size() == 1 ? "has" : "have", seconds);
  text += duplicates_;
  if (wrong_secrets_ != 0)
    text += fmt::format("; {} process{} came with a wrong secret", wrong_secrets_,
                        wrong_secrets_ == 1 ? "" : "es");
  return text;
}

std::vector<std::uint32_t> Assembly::hosts() const {
  std::map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> hosts;
  for (const Rank& rank : ranks_) {
    const auto number = static_cast<std::uint32_t>(numbers.size());
    hosts.push_back(numbers.emplace(rank.host_key, number).first->second);
  }
  return hosts;
}

std::string Assembly::describe_host(std::uint32_t host) const {
  const std::vector<std::uint32_t> all = hosts();
  std::vector<std::uint32_t> there;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] == host) there.push_back(i);
  }
  return fmt::format("host {} (rank{} {})", ranks_[there.front()].host_name, plural(there.size()),
                     list_of(there));
}

}  // namespace viaduct
