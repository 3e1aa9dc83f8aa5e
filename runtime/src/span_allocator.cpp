#include "viaduct/runtime/span_allocator.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace viaduct {
namespace {

constexpr std::size_t align_up(std::size_t value, std::size_t to) noexcept {
  return (value + to - 1) & ~(to - 1);
}

}  // namespace

SpanAllocator::SpanAllocator(std::size_t bytes, std::size_t grain)
    : total_(bytes & ~(grain - 1)), grain_(grain) {
  if (total_ != 0) free_.emplace(0, total_);
}

std::optional<std::size_t> SpanAllocator::try_allocate(std::size_t bytes, std::size_t alignment) {
  if (bytes > total_) return std::nullopt;
  const std::size_t wanted = align_up(std::max<std::size_t>(bytes, 1), grain_);
  alignment = std::max(alignment, grain_);
  for (auto it = free_.lower_bound(first_to_try(wanted, alignment)); it != free_.end(); ++it) {
    const std::size_t begin = it->first;
    const std::size_t end = begin + it->second;
    const std::size_t offset = align_up(begin, alignment);
    if (offset > end || wanted > end - offset) continue;
    passed_over({wanted, alignment, begin});
    Free made;  // all that may fail comes first
    const bool leaves_rest = offset + wanted < end;
    if (leaves_rest) made.emplace(offset + wanted, end - offset - wanted);
    made.emplace(offset, wanted);
    used_.emplace(offset, Used{wanted, bytes, made.extract(offset)});
    if (leaves_rest) free_.insert(std::next(it), made.extract(offset + wanted));
    if (offset > begin)
      it->second = offset - begin;
    else
      free_.erase(it);
    allocated_ += bytes;
    return offset;
  }
  return std::nullopt;
}

std::size_t SpanAllocator::first_to_try(std::size_t bytes, std::size_t alignment) const noexcept {
  std::size_t from = 0;
  for (const Passed& p : passed_)
    if (p.bytes != 0 && bytes >= p.bytes && alignment >= p.alignment) from = std::max(from, p.from);
  return from;
}

void SpanAllocator::passed_over(const Passed& request) noexcept {
  const auto same = std::find_if(passed_.begin(), passed_.end(), [&](const Passed& p) {
    return p.bytes == request.bytes && p.alignment == request.alignment;
  });
  if (same != passed_.end())
    same->from = request.from;
  else
    passed_[oldest_passed_++ % passed_.size()] = request;
}

std::optional<SpanAllocator::Released> SpanAllocator::try_release(std::size_t offset) {
  const auto used = used_.find(offset);
  if (used == used_.end()) return std::nullopt;
  const std::size_t bytes = used->second.bytes;
  allocated_ -= used->second.requested;
  auto merged = free_.insert(std::move(used->second.place)).position;
  used_.erase(used);
  if (const auto next = std::next(merged); next != free_.end() && next->first == offset + bytes) {
    merged->second += next->second;
    free_.erase(next);
  }
  if (merged != free_.begin()) {
    if (const auto before = std::prev(merged); before->first + before->second == offset) {
      before->second += merged->second;
      free_.erase(merged);
      merged = before;
    }
  }
  for (Passed& p : passed_) p.from = std::min(p.from, merged->first);
  return Released{bytes, merged->first, merged->first + merged->second};
}

std::size_t SpanAllocator::bytes_at(std::size_t offset) const noexcept {
  const auto used = used_.find(offset);
  return used != used_.end() ? std::max<std::size_t>(used->second.requested, 1) : 0;
}

std::size_t SpanAllocator::largest_free_bytes() const noexcept {
  std::size_t largest = 0;
  for (const auto& [offset, bytes] : free_) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace viaduct
