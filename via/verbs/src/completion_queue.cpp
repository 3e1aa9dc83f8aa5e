#include "via/verbs/src/completion_queue.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>

#include "runtime/errors/codes.hpp"
#include "via/verbs/src/errors.hpp"
#include "via/verbs/src/nic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {
/// The queue whose notifying thread this is.
thread_local const CompletionQueue* t_notified = nullptr;
}  // namespace

CompletionQueue::CompletionQueue(Nic& nic, std::size_t capacity)
    : CompletionRing(nic.attributes_.max_completion_queue), nic_(nic) {
  resize(capacity);
  nic_.queues_.push_back(this);
}

CompletionQueue::~CompletionQueue() {
  if (notifier_.joinable()) {
    stop_.store(true);
    ring_doorbell(nic_.job_.record(nic_.job_.rank()));
    notifier_.join();
  }
  std::erase(nic_.queues_, this);
  nic_.errors_.forget(*this);
}

void CompletionQueue::promise(Vi& vi, std::size_t depth, std::size_t requests) {
  CompletionRing::promise(depth);
  requests_ += requests;
  try {
    grow_device_queue();
  } catch (...) {
    forget(vi, depth, requests);
    throw;
  }
}

/// The device's queue has a place for every work request: it is never overrun.
void CompletionQueue::grow_device_queue() {
  constexpr std::size_t kLeast = 64;
  const auto most = static_cast<std::size_t>(nic_.device_.limits().max_cqe);
  if (device_queue_ == nullptr) {
    const auto entries = static_cast<int>(std::min(std::max(requests_, kLeast), most));
    device_queue_.reset(
        library().create_cq(nic_.device_.context(), entries, this, nic_.events_.channel(), 0));
    if (device_queue_ == nullptr)
      throw_refused(errno, "RDMA device " + nic_.device_.name() + " makes no completion queue of " +
                               std::to_string(entries) + " entries");
  }
  if (requests_ <= static_cast<std::size_t>(device_queue_->cqe)) return;
  const std::size_t entries = std::min(2 * requests_, most);
  const int error =
      entries < requests_ ? ENOMEM : library().resize_cq(device_queue(), static_cast<int>(entries));
  if (error != 0)
    throw Error(errors::rdma_device, error,
                "RDMA device " + nic_.device_.name() + " makes no completion queue of " +
                    std::to_string(requests_) + " entries, of at most " + std::to_string(most));
}

void CompletionQueue::forget(Vi& vi, std::size_t depth, std::size_t requests) noexcept {
  CompletionRing::forget(vi, depth);
  requests_ -= requests;
}

bool CompletionQueue::reap() noexcept {
  if (device_queue_ == nullptr) return false;
  bool any = false;
  for (;;) {
    if (taken_head_ == taken_tail_) {
      const int n = ibv_poll_cq(device_queue(), static_cast<int>(kBatch), taken_.data());
      if (n <= 0) return any;
      taken_head_ = 0;
      taken_tail_ = static_cast<std::uint32_t>(n);
    }
    any = true;
    const ibv_wc wc = taken_[taken_head_++];
    nic_.deliver(wc);
  }
}

void CompletionQueue::look() noexcept {
  reap();
  if (++polls_ % kHousekeeping == 0) nic_.progress_connections();
}

Status CompletionQueue::pop(Completion& out) noexcept {
  const Entry& entry = ring_[ring_head_++ & ring_mask_];
  out = {entry.vi, entry.descriptor, entry.queue};
  auto& vi = static_cast<Vi&>(*out.vi);
  if (out.queue == Queue::send)
    --vi.send_outstanding_;
  else
    --vi.receive_outstanding_;
  return Status::ok;
}

Status CompletionQueue::wait(Completion& out, std::int64_t timeout_ns) noexcept {
  const bool found = look_until(
      nic_.job_.wait_policy(), timeout_ns, [&] { return poll(out) != Status::retry; },
      [this](std::int64_t left_ns) { nic_.sleep(left_ns, this); });
  if (!found) return Status::timeout;
  return nothing_ == Status::retry ? Status::ok : nothing_;
}

Status CompletionQueue::notify(std::function<void()> ready) {
  if (armed_.exchange(true)) return Status::bad_state;
  const bool from_callback = t_notified == this;  // which may come before notifier_ is set
  if (!from_callback && notifier_.joinable()) notifier_.join();
  finish_trials();
  notifying_.store(true);
  event_.store(false);
  nic_.events_.control_flag().store(false);
  arm();
  nic_.control_path_->arm();
  reap();
  nic_.progress();
  ready_ = std::move(ready);
  notice_epoch_ = nic_.life_epoch_;
  if (from_callback) {
    armed_again_ = true;
    return Status::ok;
  }
  try {
    notifier_ = std::thread([this] { run_notifier(); });
  } catch (...) {
    notifying_.store(false);
    armed_.store(false);
    throw;
  }
  return Status::ok;
}

/// Waits for the answer to Vi::keep_alive(), which would be an event with nothing to take.
void CompletionQueue::finish_trials() noexcept {
  constexpr std::uint64_t kMostNs = 20'000'000;
  const auto is_tried = [this](const Vi* vi) {
    return vi != nullptr && vi->tried_ && vi->send_cq_ == this;
  };
  const std::uint64_t start = monotonic_ns();
  while (std::any_of(nic_.vis_.begin(), nic_.vis_.end(), is_tried) &&
         monotonic_ns() - start < kMostNs) {
    if (!reap()) sched_yield();
  }
}

/// Called in the notifying thread: whether the device has told of a completion, the ring has one, a
/// control message waits, or a rank has been lost.
bool CompletionQueue::worth_a_poll() noexcept {
  if (nic_.events_.control_flag().exchange(false)) {  // or an acknowledgement
    nic_.control_path_->arm();
    if (nic_.control_path_->control_waiting()) return true;
  }
  return event_.load() ||
         std::atomic_ref(ring_tail_).load(std::memory_order_acquire) != ring_head_ ||
         nic_.job_.life_epoch() != notice_epoch_;
}

/// Once for each notice; the callback may have armed the next one.
void CompletionQueue::run_notifier() noexcept {
  constexpr std::int64_t kCapNs = 5'000'000;  // the owner's own flushes ring no doorbell
  RankRecord& record = nic_.job_.record(nic_.job_.rank());
  t_notified = this;
  do {
    armed_again_ = false;
    const std::function<void()> ready = std::move(ready_);
    while (!stop_.load() && !worth_a_poll()) {
      const std::uint32_t seen = record.doorbell.load();
      record.sleeping.fetch_add(1);
      if (!worth_a_poll()) futex_wait(record.doorbell, seen, kCapNs);
      record.sleeping.fetch_sub(1);
    }
    armed_.store(false);
    if (!stop_.load()) ready();
  } while (armed_again_);
  notifying_.store(false);
}

}  // namespace viaduct::via::verbs
