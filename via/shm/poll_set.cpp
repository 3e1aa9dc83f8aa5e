#include "viaduct/via/shm/poll_set.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "runtime/errors/codes.hpp"
#include "via/shm/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::via::shm {

PollSet::PollSet(Nic& nic) : nic_(nic) {
  Segment& segment = nic_.job_.segment();
  doorbell_offset_ = segment.allocate(sizeof(CqDoorbell));
  doorbell_ = reinterpret_cast<CqDoorbell*>(segment.base() + doorbell_offset_);
}

PollSet::~PollSet() { nic_.release_when_parted(reinterpret_cast<std::byte*>(doorbell_)); }

void PollSet::watch(Connection& connection) {
  const auto free = std::find(members_.begin(), members_.end(), nullptr);
  const auto bit = static_cast<std::size_t>(free - members_.begin());
  if (bit == kMaxQueueVis)
    throw Error(errors::too_many_objects, std::errc::no_buffer_space,
                "a completion queue takes the receives of " + std::to_string(kMaxQueueVis) +
                    " VIs at most");
  if (free == members_.end()) {
    ready_.reserve(std::bit_ceil(bit + 1));  // so that lists of members never allocate
    members_.push_back(&connection);
  } else {
    *free = &connection;
  }
  connection.in_set_.bit = static_cast<std::uint32_t>(bit);
}

void PollSet::unwatch(Connection& connection) noexcept {
  const Connection::InSet& place = connection.in_set_;
  if (place.hot_at >= 0) set_aside(connection);
  if (place.bit < members_.size() && members_[place.bit] == &connection)
    members_[place.bit] = nullptr;
  unlist(connection);
}

void PollSet::unlist(Connection& connection) noexcept {
  if (!connection.in_set_.listed) return;
  connection.in_set_.listed = false;
  std::erase(ready_, &connection);
}

void PollSet::ring_self(std::uint32_t bit) noexcept {
  doorbell_->words[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64));
  doorbell_->summary.fetch_or(std::uint64_t{1} << (bit / 64));
  nic_.attention_->store(1, kRelaxed);
}

void PollSet::collect_ready() noexcept {
  const std::uint64_t summary = doorbell_->summary.load(kRelaxed);
  if ((summary & kTransportBit) != 0) nic_.poll_remote();
  if ((summary & ~kTransportBit) != 0) take_doorbells();
  if (tick_ % kHousekeeping == 0) keep_house();
}

/// Lists the connections whose doorbell was rung. The bit of the transport stays.
void PollSet::take_doorbells() noexcept {
  std::uint64_t words = doorbell_->summary.fetch_and(kTransportBit) & ~kTransportBit;
  for (; words != 0; words &= words - 1) {
    const auto w = static_cast<std::uint32_t>(std::countr_zero(words));
    for (std::uint64_t bits = doorbell_->words[w].exchange(0); bits != 0; bits &= bits - 1) {
      const std::size_t bit = w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (bit >= members_.size()) continue;
      Connection* const rung = members_[bit];
      if (rung != nullptr && rung->rx_slots_ != nullptr && rung->in_set_.hot_at < 0)
        list_ready(*rung);
    }
  }
}

/// Calls the NIC's progress, and looks at the next of the connections, hot or aside.
void PollSet::keep_house() noexcept {
  nic_.progress();
  keep_own_house();
  if (members_.empty()) return;
  next_scan_ = next_scan_ + 1 < members_.size() ? next_scan_ + 1 : 0;
  Connection* const next = members_[next_scan_];
  if (next == nullptr) return;
  next->look_for_nonsense();
  if (next->in_set_.hot_at < 0 && next->has_arrivals()) list_ready(*next);
}

bool PollSet::wants_housekeeping() noexcept {
  constexpr std::uint64_t kSeldom = 256;
  if ((tick_ + 1) % (kHousekeeping * kSeldom) == 0 || !nic_.looks_idle()) return true;
  if (members_.empty()) return false;
  next_scan_ = next_scan_ + 1 < members_.size() ? next_scan_ + 1 : 0;
  Connection* const next = members_[next_scan_];
  if (next == nullptr || next->in_set_.hot_at >= 0 || !next->has_arrivals()) return false;
  list_ready(*next);
  return true;
}

void PollSet::make_hot(Connection& connection) noexcept {
  Connection::InSet& place = connection.in_set_;
  place.last_active = tick_;
  if (place.hot_at >= 0 || connection.rx_slots_ == nullptr) return;
  if (hot_count_ == kMostHot) {
    Connection* quiet = nullptr;
    for (Connection* candidate : hot_)
      if (tick_ - candidate->in_set_.last_active > kQuiet &&
          (quiet == nullptr || candidate->in_set_.last_active < quiet->in_set_.last_active))
        quiet = candidate;
    if (quiet != nullptr) set_aside(*quiet);
  }
  if (hot_count_ < kMostHot && sleepers_.load(kRelaxed) == 0) {
    place.hot_at = static_cast<std::int32_t>(hot_count_);
    hot_[hot_count_++] = &connection;
    connection.rx_->notify.wanted.store(0, kRelaxed);
    nic_.attention_->store(1, kRelaxed);  // its messages ring no doorbell any more
  } else if (connection.has_arrivals()) {
    ring_self(place.bit);  // its bit was taken and its sender need not ring again
  }
}

void PollSet::set_aside(Connection& connection) noexcept {
  const auto at = static_cast<std::uint32_t>(connection.in_set_.hot_at);
  hot_[at] = hot_[--hot_count_];
  turn_ = 0;
  hot_[at]->in_set_.hot_at = static_cast<std::int32_t>(at);
  connection.in_set_.hot_at = -1;
  if (connection.rx_ != nullptr) connection.rx_->notify.wanted.store(1, kRelaxed);
}

bool PollSet::has_arrivals() const noexcept {
  return std::any_of(members_.begin(), members_.end(), [](const Connection* member) {
    return member != nullptr && member->has_arrivals();
  });
}

bool PollSet::anything_there() noexcept {
  return (doorbell_->summary.load() & ~kTransportBit) != 0 || !nic_.is_quiet() || has_arrivals();
}

void PollSet::look_fully() noexcept {
  if (nic_.control_waiting()) tick_ |= kHousekeeping - 1;
}

void PollSet::ring_for_missed() noexcept {
  for (Connection* member : members_)
    if (member != nullptr && member->has_arrivals()) ring_self(member->in_set_.bit);
}

bool PollSet::look_for_nonsense() noexcept {
  const std::uint64_t before = nic_.broken_off_;
  for (Connection* member : members_)
    if (member != nullptr) member->look_for_nonsense();
  return nic_.broken_off_ != before;
}

void PollSet::set_all_aside() noexcept {
  while (hot_count_ != 0) set_aside(*hot_[0]);
  for (Connection* member : members_)
    if (member != nullptr && member->rx_ != nullptr) member->release_taken();
}

}  // namespace viaduct::via::shm
