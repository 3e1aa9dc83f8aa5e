#include "tests/conformance/lists.hpp"

#include <algorithm>
#include <utility>

namespace viaduct::conformance {

List::List(std::mt19937_64& random, const Buffer& buffer, std::uint32_t segments,
           std::uint32_t total)
    : total_(total) {
  std::vector<std::uint32_t> cuts = {0, total};
  for (std::uint32_t i = 1; i < segments; ++i)
    cuts.push_back(static_cast<std::uint32_t>(random() % (total + 1)));
  std::sort(cuts.begin(), cuts.end());
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < segments; ++i) {
    const std::uint32_t bytes = cuts[i + 1] - cuts[i];
    at += random() % kGap;
    segments_.push_back(buffer.segment(at, bytes));
    at += bytes;
  }
  std::shuffle(segments_.begin(), segments_.end(), random);
}

void List::fill(std::uint64_t seed) const noexcept {
  std::size_t first = 0;
  for (const via::LocalSegment& segment : segments_) {
    fill_pattern(segment.address, segment.length, seed, first);
    first += segment.length;
  }
}

void List::expect(std::uint64_t seed, std::size_t bytes, Where where) const {
  std::size_t first = 0;
  for (const via::LocalSegment& segment : segments_) {
    const std::size_t n = std::min<std::size_t>(segment.length, bytes - first);
    const std::size_t good = matching(segment.address, n, seed, first);
    check(good == n, fmt::format("byte {} of {} is wrong", first + good, bytes), where);
    first += n;
  }
}

void make_rdma_list(via::Descriptor& d, via::Operation operation, const List& list,
                    std::uint64_t remote_address, via::MemoryHandle remote_handle) noexcept {
  via::make_list(d, list.data(), list.count());
  d.control.control = static_cast<std::uint16_t>(operation);
  d.control.segment_count = static_cast<std::uint16_t>(list.count() + 1);
  d.segments()[0].remote = via::AddressSegment{remote_address, remote_handle, 0};
  for (std::uint16_t i = 0; i < list.count(); ++i) d.segments()[i + 1].local = list.data()[i];
}

}  // namespace viaduct::conformance
