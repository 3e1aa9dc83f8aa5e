#include "viaduct/via/shm/completion_queue.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <thread>

#include "runtime/errors/codes.hpp"
#include "via/shm/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::via::shm {

struct CompletionQueue::Notifier {
  std::thread thread;
};

CompletionQueue::CompletionQueue(Nic& nic, std::size_t capacity)
    : CompletionRing(nic.attributes_.max_completion_queue), nic_(nic) {
  resize(capacity);
  doorbell_offset_ = nic_.job_.segment().allocate(sizeof(CqDoorbell));  // the last that may fail
  doorbell_ = reinterpret_cast<CqDoorbell*>(nic_.job_.segment().base() + doorbell_offset_);
}

CompletionQueue::~CompletionQueue() {
  if (notifier_ != nullptr && notifier_->thread.joinable()) {
    stop_notifier_.store(true);
    ring_doorbell(nic_.job_.record(nic_.job_.rank()));
    notifier_->thread.join();
  }
  nic_.release_when_parted(reinterpret_cast<std::byte*>(doorbell_));
}

void CompletionQueue::watch(Vi& vi) {
  const auto free = std::find(vis_.begin(), vis_.end(), nullptr);
  const auto bit = static_cast<std::size_t>(free - vis_.begin());
  if (bit == kMaxQueueVis)
    throw Error(errors::too_many_objects, std::errc::no_buffer_space,
                "a completion queue takes the receives of " + std::to_string(kMaxQueueVis) +
                    " VIs at most");
  if (free == vis_.end()) {
    vis_.push_back(&vi);
    ready_.reserve(vis_.capacity());
  } else {
    *free = &vi;
  }
  vi.receive_bit_ = static_cast<std::uint32_t>(bit);
  if (vi.options_.remote) doorbell_->summary.fetch_or(kTransportBit);
}

void CompletionQueue::unwatch(Vi& vi) noexcept {
  if (vi.hot_at_ >= 0) set_aside(vi);
  if (vi.receive_bit_ < vis_.size() && vis_[vi.receive_bit_] == &vi)
    vis_[vi.receive_bit_] = nullptr;
  unlist(vi);
}

void CompletionQueue::unlist(Vi& vi) noexcept {
  if (!vi.listed_) return;
  vi.listed_ = false;
  std::erase(ready_, &vi);
}

Status CompletionQueue::pop(Completion& out) noexcept {
  // Field by field: as a vector, what was pushed a moment ago would be read only when all stores
  // before it are done.
  Completion& c = ring_[ring_head_++ & ring_mask_];
  out.vi = load_word(c.vi, kRelaxed);
  out.descriptor = load_word(c.descriptor, kRelaxed);
  out.queue = c.queue;
  auto& vi = static_cast<Vi&>(*out.vi);
  if (out.queue == Queue::send)
    --vi.tx_outstanding_;
  else
    --vi.rx_outstanding_;
  return Status::ok;
}

Status CompletionQueue::poll_slow(Completion& out) noexcept {
  if (ring_head_ != ring_tail_) return pop(out);
  collect_ready();
  while (!ready_.empty()) {
    Vi* vi = next_ready();
    if (vi->rx_slots_ == nullptr || vi->options_.inline_only) continue;
    Descriptor* d = vi->take_receive();
    make_hot(*vi);
    if (d != nullptr) {
      while (!ready_.empty()) ring_self(next_ready()->receive_bit_);
      out = {vi, d, Queue::receive};
      return Status::ok;
    }
  }
  return ring_head_ != ring_tail_ ? pop(out) : Status::retry;
}

Status CompletionQueue::poll_other(Vi& vi, Completion& out) noexcept {
  Descriptor* d = vi.take_receive();
  if (d == nullptr) return poll_slow(out);  // the VI has failed over it
  out = {&vi, d, Queue::receive};
  return Status::ok;
}

void CompletionQueue::ring_self(std::uint32_t bit) noexcept {
  doorbell_->words[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64));
  doorbell_->summary.fetch_or(std::uint64_t{1} << (bit / 64));
  nic_.attention_->store(1, kRelaxed);
}

void CompletionQueue::collect_ready() noexcept {
  const std::uint64_t summary = doorbell_->summary.load(kRelaxed);
  if ((summary & kTransportBit) != 0 && nic_.transport_ != nullptr) nic_.poll_transport();
  if ((summary & ~kTransportBit) != 0) take_doorbells();
  if (tick_ % kHousekeeping == 0) keep_house();
}

/// The bit of the transport stays.
void CompletionQueue::take_doorbells() noexcept {
  std::uint64_t words = doorbell_->summary.fetch_and(kTransportBit) & ~kTransportBit;
  for (; words != 0; words &= words - 1) {
    const auto w = static_cast<std::uint32_t>(std::countr_zero(words));
    for (std::uint64_t bits = doorbell_->words[w].exchange(0); bits != 0; bits &= bits - 1) {
      const std::size_t bit = w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (bit < vis_.size() && vis_[bit] != nullptr && vis_[bit]->rx_slots_ != nullptr &&
          vis_[bit]->hot_at_ < 0)
        list_ready(*vis_[bit]);
    }
  }
}

/// The NIC's progress, and one of the channels that are aside.
void CompletionQueue::keep_house() noexcept {
  nic_.progress();
  if (housekeeping_ != nullptr) housekeeping_(housekeeping_with_);
  if (vis_.empty()) return;
  next_scan_ = next_scan_ + 1 < vis_.size() ? next_scan_ + 1 : 0;
  Vi* vi = vis_[next_scan_];
  if (vi == nullptr) return;
  vi->look_for_nonsense();
  if (vi->hot_at_ < 0 && vi->has_arrivals()) list_ready(*vi);
}

void CompletionQueue::make_hot(Vi& vi) noexcept {
  vi.last_active_ = tick_;
  if (vi.hot_at_ >= 0 || vi.rx_slots_ == nullptr) return;
  if (hot_count_ == kHotVis) {
    Vi* quiet = nullptr;
    for (Vi* candidate : hot_)
      if (tick_ - candidate->last_active_ > kQuiet &&
          (quiet == nullptr || candidate->last_active_ < quiet->last_active_))
        quiet = candidate;
    if (quiet != nullptr) set_aside(*quiet);
  }
  if (hot_count_ < kHotVis && sleepers_.load(kRelaxed) == 0) {
    vi.hot_at_ = static_cast<std::int32_t>(hot_count_);
    hot_[hot_count_++] = &vi;
    vi.rx_->notify.wanted.store(0, kRelaxed);
    nic_.attention_->store(1, kRelaxed);  // its messages ring no doorbell any more
  } else if (vi.has_arrivals()) {
    ring_self(vi.receive_bit_);  // its bit was taken and its sender need not ring again
  }
}

void CompletionQueue::set_aside(Vi& vi) noexcept {
  const auto at = static_cast<std::uint32_t>(vi.hot_at_);
  hot_[at] = hot_[--hot_count_];
  turn_ = 0;
  hot_[at]->hot_at_ = static_cast<std::int32_t>(at);
  vi.hot_at_ = -1;
  if (vi.rx_ != nullptr) vi.rx_->notify.wanted.store(1, kRelaxed);
}

bool CompletionQueue::anything_there() noexcept {
  if (!ring_empty() || (doorbell_->summary.load() & ~kTransportBit) != 0 ||
      nic_.control_waiting() || nic_.life_epoch_ != nic_.job_.life_epoch())
    return true;
  return std::any_of(vis_.begin(), vis_.end(),
                     [](Vi* vi) { return vi != nullptr && vi->has_arrivals(); });
}

void CompletionQueue::look_fully() noexcept {
  if (nic_.control_waiting()) tick_ |= kHousekeeping - 1;
}

void CompletionQueue::ring_for_missed() noexcept {
  for (Vi* vi : vis_)
    if (vi != nullptr && vi->has_arrivals()) ring_self(vi->receive_bit_);
}

/// Whether a connection has ended over what its peer has written.
bool CompletionQueue::look_for_nonsense() noexcept {
  const std::uint64_t before = nic_.broken_off_;
  for (Vi* vi : vis_)
    if (vi != nullptr) vi->look_for_nonsense();
  return nic_.broken_off_ != before;
}

/// Every sender rings from now on, and has all the room that there is.
void CompletionQueue::set_all_aside() noexcept {
  while (hot_count_ != 0) set_aside(*hot_[0]);
  for (Vi* vi : vis_)
    if (vi != nullptr && vi->options_.inline_only && vi->rx_ != nullptr &&
        vi->rx_released_ != vi->rx_seq_)
      vi->release_slots();
}

Status CompletionQueue::wait(Completion& out, std::int64_t timeout_ns) noexcept {
  const std::uint64_t start = monotonic_ns();
  Backoff backoff(nic_.job_.wait_policy());
  for (;;) {
    if (poll(out) == Status::ok) return Status::ok;
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    if (timeout_ns >= 0 && waited >= timeout_ns) return Status::timeout;
    if (backoff.next() != Backoff::Stage::block_now) continue;
    Watched watched{&nic_, this, nullptr};
    sleep(nic_.job_, watched, {.timeout_ns = timeout_ns < 0 ? -1 : timeout_ns - waited});
  }
}

Status CompletionQueue::notify(std::function<void()> ready) {
  if (armed_.exchange(true)) return Status::bad_state;
  if (notifier_ == nullptr) notifier_ = std::make_unique<Notifier>();
  const bool from_callback = notifier_->thread.get_id() == std::this_thread::get_id();
  if (!from_callback && notifier_->thread.joinable()) notifier_->thread.join();
  nic_.progress();
  set_all_aside();
  tick_ |= kHousekeeping - 1;
  notice_ = {std::move(ready), nic_.life_epoch_};
  if (from_callback)
    armed_again_ = true;
  else
    notifier_->thread = std::thread([this] { run_notifier(); });
  return Status::ok;
}

/// Once for each notice; the callback may have armed the next one.
void CompletionQueue::run_notifier() noexcept {
  do {
    armed_again_ = false;
    const Notice notice = std::move(notice_);
    while (!stop_notifier_.load() && !takeable(notice.epoch)) sleep_until_doorbell(notice.epoch);
    ring_for_missed();
    armed_.store(false);
    if (!stop_notifier_.load()) notice.ready();
  } while (armed_again_);
}

/// For the notifying thread, while the owner keeps away from the queue: a completion, or a control
/// message or a lost peer that may bring one.
bool CompletionQueue::takeable(std::uint32_t epoch) noexcept {
  if (load_word(ring_tail_, kAcquire) != ring_head_ || nic_.control_waiting() ||
      nic_.job_.life_epoch() != epoch)
    return true;
  return std::any_of(vis_.begin(), vis_.end(),
                     [](Vi* vi) { return vi != nullptr && vi->has_arrivals(); });
}

void CompletionQueue::sleep_until_doorbell(std::uint32_t epoch) noexcept {
  constexpr std::int64_t kCapNs = 1'000'000;  // the owner's own sends ring no doorbell
  RankRecord& record = nic_.job_.record(nic_.job_.rank());
  const std::uint32_t seen = record.doorbell.load();
  record.sleeping.fetch_add(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!takeable(epoch)) futex_wait(record.doorbell, seen, kCapNs);
  record.sleeping.fetch_sub(1);
}

}  // namespace viaduct::via::shm
