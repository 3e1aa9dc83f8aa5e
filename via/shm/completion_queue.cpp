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
    : CompletionRing(nic.attributes_.max_completion_queue), PollSet(nic) {
  resize(capacity);
}

CompletionQueue::~CompletionQueue() {
  if (notifier_ != nullptr && notifier_->thread.joinable()) {
    stop_notifier_.store(true);
    ring_doorbell(nic_.job_.record(nic_.job_.rank()));
    notifier_->thread.join();
  }
}

/// The doorbell has been rung, or it is time for housekeeping.
Status CompletionQueue::poll_more(Completion& out) noexcept {
  ++tick_;
  return poll_ready(out);
}

/// Takes completions of the ring first, then messages that have come to VIs that are aside.
Status CompletionQueue::poll_ready(Completion& out) noexcept {
  if (ring_empty()) collect_ready();
  while (!ready_.empty()) {
    auto& vi = static_cast<Vi&>(next_ready());
    if (vi.rx_slots_ == nullptr) continue;
    Descriptor* d = vi.take_receive();
    make_hot(vi);
    if (d != nullptr) {
      leave_ready();
      out = {&vi, d, Queue::receive};
      return Status::ok;
    }
    nic_.tell_errors();  // the VI may have failed over it, and is not used any more
  }
  if (ring_empty()) return nothing_;
  pop(out);
  return Status::ok;
}

Status CompletionQueue::poll_message(Vi& vi, Completion& out) noexcept {
  Descriptor* d = vi.take_receive();
  if (d == nullptr) {  // the VI has failed over it
    nic_.tell_errors();
    return poll_ready(out);
  }
  out = {&vi, d, Queue::receive};
  return Status::ok;
}

bool CompletionQueue::anything_there() noexcept {
  return !ring_empty() || PollSet::anything_there();
}

Status CompletionQueue::wait(Completion& out, std::int64_t timeout_ns) noexcept {
  const bool found = look_until(
      nic_.job_.wait_policy(), timeout_ns, [&] { return poll(out) != Status::retry; },
      [this](std::int64_t left_ns) {
        Watched watched{&nic_, this, nullptr};
        sleep(nic_.job_, watched, {.timeout_ns = left_ns});
      });
  if (!found) return Status::timeout;
  return nothing_ == Status::retry ? Status::ok : nothing_;
}

Status CompletionQueue::notify(std::function<void()> ready) {
  if (notifier_ == nullptr) notifier_ = std::make_unique<Notifier>();
  if (armed_.exchange(true)) return Status::bad_state;
  const bool from_callback = notifier_->thread.get_id() == std::this_thread::get_id();
  if (!from_callback && notifier_->thread.joinable()) notifier_->thread.join();
  nic_.progress();
  set_all_aside();
  tick_ |= kHousekeeping - 1;
  notice_ = {std::move(ready), nic_.life_epoch_.load(kRelaxed)};
  if (from_callback) {
    armed_again_ = true;
    return Status::ok;
  }
  try {
    notifier_->thread = std::thread([this] { run_notifier(); });
  } catch (...) {
    armed_.store(false);
    throw;
  }
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

/// Called in the notifying thread, while the owner keeps away from the queue: whether there is a
/// completion, or a control message or a lost peer that may bring one.
bool CompletionQueue::takeable(std::uint32_t epoch) noexcept {
  if (load_word(ring_tail_, kAcquire) != ring_head_ || nic_.control_waiting() ||
      nic_.job_.life_epoch() != epoch)
    return true;
  return has_arrivals();
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
