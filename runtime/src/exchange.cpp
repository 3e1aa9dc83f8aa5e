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

/// The rank for which no fence of everyone will be complete again, if there is one.
std::optional<Rank> Exchange::culprit() const noexcept {
  if (any_lost_) return first_lost_;
  const auto ends = [](const PerRank& r) { return r.waiting && r.kind == FenceKind::survivors; };
  const auto found = std::find_if(ranks_.begin(), ranks_.end(), ends);
  if (found == ranks_.end()) return std::nullopt;
  return Rank{static_cast<std::uint32_t>(found - ranks_.begin())};
}

/// Whether all wait, and at fences that can be over together.
bool Exchange::complete() const noexcept {
  bool ending = false;
  bool going_on = false;
  for (const PerRank& r : ranks_) {
    if (!r.waiting && !r.lost) return false;
    if (r.waiting) (r.kind == FenceKind::everyone ? going_on : ending) = true;
  }
  return !(ending && going_on);
}

void Exchange::publish() {
  for (PerRank& each : ranks_) {
    while (!each.pending.empty()) {  // node by node: nothing is allocated
      auto value = each.pending.extract(each.pending.begin());
      if (const auto known = each.visible.find(value.key()); known != each.visible.end())
        known->second = std::move(value.mapped());
      else
        each.visible.insert(std::move(value));
    }
  }
}

std::vector<Exchange::Release> Exchange::take_released() {
  std::vector<Release> released;
  released.reserve(size());  // the last that may fail: no verdict is lost
  const std::optional<Rank> missing = culprit();
  const bool all_here = complete();
  if (all_here) publish();
  for (std::uint32_t i = 0; i < size(); ++i) {
    PerRank& each = ranks_[i];
    const bool fails = each.kind == FenceKind::everyone && missing.has_value();
    if (!each.waiting || !(all_here || fails)) continue;
    each.waiting = false;
    each.ended = each.kind != FenceKind::everyone;
    released.push_back({Rank{i}, fails, missing.value_or(Rank{})});
  }
  return released;
}

}  // namespace viaduct
