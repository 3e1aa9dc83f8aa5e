#include "runtime/src/exchange.hpp"

#include <algorithm>

namespace viaduct {

void Exchange::put(Rank rank, std::string_view key, std::span<const std::byte> value) {
  PerRank& mine = ranks_[index(rank)];
  mine.bytes += key.size() + value.size();
  mine.pending.insert_or_assign(std::string(key),
                                std::vector<std::byte>(value.begin(), value.end()));
}

const std::vector<std::byte>* Exchange::get(Rank rank, std::string_view key) const {
  const Values& values = ranks_[index(rank)].visible;
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

bool Exchange::arrive(Rank rank, FenceKind kind) {
  PerRank& mine = ranks_[index(rank)];
  if (mine.waiting) return false;
  mine.waiting = true;
  mine.kind = kind;
  return true;
}

void Exchange::lose(Rank rank) {
  PerRank& mine = ranks_[index(rank)];
  if (mine.lost) return;
  mine.lost = true;
  mine.waiting = false;
  if (!any_lost_) first_lost_ = rank;
  any_lost_ = true;
}

bool Exchange::complete() const noexcept {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const PerRank& r) { return r.waiting || r.lost; });
}

void Exchange::publish() {
  for (PerRank& each : ranks_) {
    for (auto& [key, value] : each.pending) each.visible.insert_or_assign(key, std::move(value));
    each.pending.clear();
  }
}

std::vector<Exchange::Release> Exchange::take_released() {
  std::vector<Release> released;
  const bool all_here = complete();
  if (all_here) publish();
  for (std::uint32_t i = 0; i < size(); ++i) {
    PerRank& each = ranks_[i];
    const bool fails = each.kind == FenceKind::everyone && any_lost_;
    if (!each.waiting || !(all_here || fails)) continue;
    each.waiting = false;
    released.push_back({Rank{i}, fails, first_lost_});
  }
  return released;
}

}  // namespace viaduct
