/// Sends that the fast path does not take: they are carried out at once (transfer.cpp), or wait
/// their turn.

#include "via/descriptor_rules.hpp"
#include "via/shm/nic.hpp"
#include "via/shm/transfer.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::shm {

using rules::completed_as;
using rules::operation_of;
using rules::status_of;

Status Vi::finish_short(Short what) noexcept {
  if (what == Short::wake_peer) ring_peer();
  if ((tx_seq_ & tx_mask_ / 2) == 0) take_room(tx_->receiver.posted.load(kAcquire));
  return Status::ok;
}

Vi::SendQueue::SendQueue(Vi& vi, CompletionQueue& completions)
    : vi_(vi), completions_(&completions) {
  completions_->promise(vi_.attributes_.send_depth);
}

Vi::SendQueue::~SendQueue() { completions_->forget(vi_, vi_.attributes_.send_depth); }

Status Vi::SendQueue::post(Descriptor& d) noexcept {
  if (vi_.state_ == ViState::idle || vi_.state_ == ViState::connecting) return Status::bad_state;
  if (vi_.tx_outstanding_ >= vi_.attributes_.send_depth) return Status::retry;
  ++vi_.tx_outstanding_;
  d.control.status = 0;
  if (vi_.state_ == ViState::error) {
    complete(vi_, d, status_of(completed_as(operation_of(d))) | descriptor_status::flushed);
    return Status::ok;
  }
  const Fate fate = waiting_.empty() ? Transfer(*this, d).run() : Fate::later;
  if (fate == Fate::later && vi_.state_ == ViState::connected) add(d, 0);
  if (fate == Fate::failed) vi_.nic_.tell_errors();  // of this VI, perhaps: it is not used any more
  return Status::ok;
}

/// @p d waits. @p staged: the block that holds its data, or 0.
void Vi::SendQueue::add(Descriptor& d, std::uint64_t staged) noexcept {
  if (waiting_.empty()) vi_.nic_.keep(vi_.nic_.waiting_vis_, &vi_);
  waiting_.push_back({&d, staged});
  ready_ = false;
}

void Vi::SendQueue::run_waiting() noexcept {
  Segment& segment = vi_.nic_.job_.segment();
  while (!waiting_.empty() && vi_.state_ == ViState::connected) {
    const Waiting oldest = waiting_.front();
    Descriptor& d = *oldest.descriptor;
    if (oldest.staged == 0) {
      if (Transfer(*this, d).run() == Fate::later) return;
      drop(d);
    } else {
      auto* block = reinterpret_cast<StagedBlock*>(segment.base() + oldest.staged);
      if (block->taken.load(kAcquire) == 0) return;
      segment.release(oldest.staged);
      complete(vi_, d, status_of(CompletedOperation::send));
      waiting_.pop_front();
    }
  }
  if (vi_.state_ == ViState::connected) become_ready();
}

void Vi::SendQueue::flush() noexcept {
  ready_ = false;
  for (const Waiting& w : waiting_) {
    if (w.staged != 0) vi_.nic_.keep(vi_.nic_.staged_, Nic::Staged{w.staged, vi_.end_});
    complete(vi_, *w.descriptor, descriptor_status::done | descriptor_status::flushed);
  }
  waiting_.clear();
}

}  // namespace viaduct::via::shm
