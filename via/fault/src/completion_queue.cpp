#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "runtime/errors/codes.hpp"
#include "via/fault/src/fault.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::fault {
namespace {

void give_to_vi(const Completion& below) noexcept {
  static_cast<Vi*>(below.vi->attributes().context)->completed_below(*below.descriptor, below.queue);
}

}  // namespace

CompletionQueue::CompletionQueue(Nic& nic, std::unique_ptr<via::CompletionQueue> inner,
                                 std::size_t capacity)
    : nic_(nic), inner_(std::move(inner)), capacity_(capacity) {
  nic_.add(*this);
}

CompletionQueue::~CompletionQueue() {
  if (teller_.joinable()) teller_.join();
  inner_.reset();  // its notifying thread may still be in a callback that uses this queue
  nic_.remove(*this);
}

void CompletionQueue::forget(const Vi& vi) {
  std::erase_if(decided_, [&](const Completion& completion) { return completion.vi == &vi; });
}

Status CompletionQueue::take_decided(Completion& out) noexcept {
  if (decided_.empty()) return Status::retry;
  out = decided_.front();
  decided_.pop_front();
  static_cast<Vi*>(out.vi)->reaped(*out.descriptor, out.queue);
  return Status::ok;
}

Status CompletionQueue::poll(Completion& out) noexcept {
  nic_.move_lines();
  Completion below;
  while (decided_.empty() && inner_->poll(below) == Status::ok) give_to_vi(below);
  nic_.tell_errors();  // first: it may destroy a VI whose completions are here
  return take_decided(out);
}

void CompletionQueue::reap() noexcept {
  Completion below;
  while (!inner_armed_.load() && inner_->poll(below) == Status::ok) give_to_vi(below);
}

Status CompletionQueue::wait(Completion& out, std::int64_t timeout_ns) noexcept {
  const std::uint64_t start = monotonic_ns();
  for (;;) {
    if (poll(out) == Status::ok) return Status::ok;
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    if (timeout_ns >= 0 && waited >= timeout_ns) return Status::timeout;
    Completion below;
    const std::int64_t most = nic_.wait_at_most(timeout_ns < 0 ? -1 : timeout_ns - waited);
    if (inner_->wait(below, most) == Status::ok) give_to_vi(below);
  }
}

void CompletionQueue::add(const Completion& completion) {
  decided_.push_back(completion);
  if (is_armed()) tell_by_thread(false);
}

Status CompletionQueue::notify(std::function<void()> ready) {
  if (notice_.load() != Notice::none) return Status::bad_state;
  ready_ = std::move(ready);
  notice_.store(Notice::armed);
  nic_.move_lines(true);
  nic_.tell_errors();
  try {
    return arm();
  } catch (...) {
    Notice expected = Notice::armed;
    if (notice_.compare_exchange_strong(expected, Notice::none)) throw;
    return Status::ok;  // the queue underneath, armed before, has told meanwhile
  }
}

/// For the notice that is armed.
Status CompletionQueue::arm() {
  if (!decided_.empty() || nic_.failure_waits()) {
    tell_by_thread(decided_.empty());
    return Status::ok;
  }
  if (inner_armed_.exchange(true)) return Status::ok;  // still armed for an earlier notice
  try {
    return inner_->notify([this] {
      inner_armed_.store(false);
      tell();
    });
  } catch (...) {
    inner_armed_.store(false);
    throw;
  }
}

void CompletionQueue::tell() noexcept {
  Notice expected = Notice::armed;
  if (!notice_.compare_exchange_strong(expected, Notice::taken)) return;
  const std::function<void()> ready = std::move(ready_);
  notice_.store(Notice::none);
  ready();
}

void CompletionQueue::tell_by_thread(bool slowly) {
  const bool is_teller = teller_.get_id() == std::this_thread::get_id();
  if (!is_teller && teller_.joinable()) teller_.join();
  again_ = true;
  slowly_ = slowly;
  if (is_teller) return;
  teller_ = std::thread([this] {
    while (std::exchange(again_, false)) {
      if (slowly_) std::this_thread::sleep_for(std::chrono::microseconds(100));
      tell();
    }
  });
}

void CompletionQueue::require_room(std::size_t depth) const {
  if (!nic_.doubles() || promised_ + depth <= capacity_) return;
  throw Error(errors::bad_attributes, std::errc::no_buffer_space,
              fmt::format("work queues of {} descriptors do not fit a completion queue of {} "
                          "entries, {} of them taken by other queues: resize() it first",
                          depth, capacity_, promised_));
}

void CompletionQueue::resize(std::size_t capacity) {
  nic_.check_capacity(capacity);
  if (nic_.doubles() && capacity < promised_)
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                fmt::format("completion queue of {} entries: the queues attached to it may hold {} "
                            "descriptors; destroy a VI first",
                            capacity, promised_));
  inner_->resize(nic_.doubles() ? 2 * capacity : capacity);
  capacity_ = capacity;
}

}  // namespace viaduct::via::fault
