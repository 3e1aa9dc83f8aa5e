/// The mailboxes of provider shm, and the work between polls. Connections: connections.cpp.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>
#include <string>

#include "runtime/errors/codes.hpp"
#include "via/shm/nic.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::via::shm {

void Nic::wake(Rank rank) noexcept {
  RankRecord& record = job_.record(rank);
  if (record.sleeping.load() == 0) return;
  count(kWakes);
  ring_doorbell(record);
}

void Nic::ring_mailbox(NicPage& page, AtomicWord<std::uint64_t>& attention, Rank from) noexcept {
  page.mailbox_words[index(from) / 64].fetch_or(std::uint64_t{1} << (index(from) % 64));
  page.control_waiting.store(1);
  attention.store(1);
}

bool Nic::has_closed(Rank rank) const noexcept {
  const Peer* known = peers_[index(rank)].get();
  return known != nullptr && known->page->closed.load() == 1;
}

/// False: the entry for us is still full.
bool Nic::deliver(Rank to, const ControlMessage& message) {
  Peer* const p = reach(to);
  if (p == nullptr) return true;  // look_for_lost_peers() will draw the consequences
  const bool free = p->mailbox_entry->full.load(kAcquire) == 0;
  if (free) {
    (void)encode(message, p->mailbox_entry->message);
    p->mailbox_entry->full.store(1, kRelease);
    ring_mailbox(*p->page, *p->attention, job_.rank());
    wake(to);
  }
  // This check follows the control message, and pairs with close(): if the peer's last look missed
  // the message, the check sees that the peer has closed.
  if (!has_closed(to)) return free;
  ring_mailbox(*page_, *attention_, to);  // handle_mailbox() will draw the consequences
  return true;
}

/// Closes the NIC's page: this rank no longer reads its mailbox. Peers that have written or may
/// wait are woken, so that they look at `closed`.
void Nic::close() noexcept {
  page_->closed.store(1);
  for (std::uint32_t r = 0; r < job_.size(); ++r) {
    const bool has_written = (page_->mailbox_words[r / 64].load() >> (r % 64) & 1) != 0;
    if (Rank{r} == job_.rank() || (peers_[r] == nullptr && !has_written) || job_.is_lost(Rank{r}))
      continue;
    try {
      const Peer* const p = reach(Rank{r});
      if (p == nullptr) continue;
      ring_mailbox(*p->page, *p->attention, job_.rank());
      wake(Rank{r});
    } catch (const std::exception& e) {
      job_.log().write(LogLevel::error, e.what());
    }
  }
}

void Nic::post(Rank to, const ControlMessage& message) {
  if (is_remote(to)) return post_remote(to, message);
  if (owes(to) || !deliver(to, message)) keep(outbox_, std::pair(to, message));
}

bool Nic::control_waiting() const noexcept { return page_->control_waiting.load() != 0; }

/// Two threads are found out only when both are in progress() at the same moment, as they soon are.
void Nic::stop_second_thread() const noexcept {
  violate_contract(
      errors::nic_of_two_threads,
      "two threads of rank " + std::to_string(index(job_.rank())) +
          " use its NIC at the same time: bundles of one rank share it, so poll them from "
          "one thread, or give "
          "all endpoints to one parallel bundle");
}

void Nic::progress() noexcept {
  const std::thread::id me = std::this_thread::get_id();
  const std::atomic_ref inside(in_progress_);
  if (const std::thread::id there = inside.load(std::memory_order_relaxed);
      there != std::thread::id()) {
    if (there != me) stop_second_thread();
    return;
  }
  inside.store(me, std::memory_order_relaxed);
  try {
    if (page_->control_waiting.load(kRelaxed) != 0) {
      handle_mailbox();
      tell_errors();
    }
    if (life_epoch_.load(kRelaxed) != job_.life_epoch()) {
      look_for_lost_peers();
      tell_errors();
    }
    if (!outbox_.empty()) send_outbox();
    if (!waiting_vis_.empty()) {
      const auto waiting = std::move(waiting_vis_);
      waiting_vis_.clear();
      for (Vi* vi : waiting) {
        vi->sends_.run_waiting();
        if (vi->sends_.has_waiting()) waiting_vis_.push_back(vi);
      }
      tell_errors();
    }
    if (!staged_.empty()) sweep_staged();
    progress_remote();
    if (connections_.has_requests()) connections_.tell_of_requests(incoming_peer_);
    told_problem_ = false;
  } catch (const std::exception& e) {  // tried again by the next call
    if (!told_problem_) job_.log().write(LogLevel::error, e.what());
    told_problem_ = true;
  }
  keeps_.store(
      !outbox_.empty() || !waiting_vis_.empty() || !staged_.empty() || connections_.has_requests(),
      kRelaxed);
  inside.store(std::thread::id(), std::memory_order_relaxed);
}

void Nic::send_outbox() {
  std::vector<Rank> full;  // keeps the order of each peer's messages
  std::erase_if(outbox_, [&](const auto& entry) {
    const Rank to = entry.first;
    if (job_.is_lost(to)) return true;
    if (std::find(full.begin(), full.end(), to) != full.end()) return false;
    if (deliver(to, entry.second)) return true;
    full.push_back(to);
    return false;
  });
}

/// The bits of a word of the mailbox that have been taken. Those whose messages an exception leaves
/// unhandled are set again, so that the next progress() handles them.
class Nic::TakenBits {
 public:
  TakenBits(NicPage& page, std::uint32_t word) noexcept
      : page_(page), word_(page.mailbox_words[word]), bits_(word_.exchange(0)) {}
  ~TakenBits() {
    if (bits_ == 0) return;
    word_.fetch_or(bits_);
    page_.control_waiting.store(1);
  }
  TakenBits(const TakenBits&) = delete;
  TakenBits& operator=(const TakenBits&) = delete;
  [[nodiscard]] bool any() const noexcept { return bits_ != 0; }
  [[nodiscard]] std::uint32_t first() const noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(bits_));
  }
  void drop_first() noexcept { bits_ &= bits_ - 1; }

 private:
  NicPage& page_;
  AtomicWord<std::uint64_t>& word_;
  std::uint64_t bits_;
};

void Nic::handle_mailbox() {
  page_->control_waiting.store(0);
  for (std::uint32_t w = 0; w < (job_.size() + 63) / 64; ++w) {
    for (TakenBits taken(*page_, w); taken.any(); taken.drop_first()) {
      const std::uint32_t from = w * 64 + taken.first();
      if (from >= job_.size()) continue;
      MailboxEntry& entry = mailbox_[from];
      const bool closed = has_closed(Rank{from});  // before the last control message is looked for
      if (entry.full.load(kAcquire) != 0) {
        const auto bytes = entry.message;  // before it is looked at: its writer may change it
        handle(Rank{from}, bytes);
        entry.full.store(0, kRelease);
      }
      if (closed)
        part_from([from](Rank rank) { return rank == Rank{from}; }, ErrorCause::disconnected);
    }
  }
}

void Nic::sweep_staged() noexcept {
  const auto& ends = connections_.connector().ends();
  std::erase_if(staged_, [&](const Staged& each) {
    auto* block = reinterpret_cast<StagedBlock*>(job_.segment().base() + each.offset);
    if (block->taken.load(kAcquire) == 0 && ends.contains(each.end)) return false;
    job_.segment().release(each.offset);
    return true;
  });
}

/// The callback is called when the VI is not used any more: at the end of the call, or in the next
/// progress().
void Nic::report(const AsyncError& error) noexcept {
  if (errors_.add(error)) return asked();
  if (error.cause == ErrorCause::disconnected) return;
  job_.log().write(LogLevel::warn, std::string("shm: VI to rank ") +
                                       std::to_string(index(error.peer)) +
                                       " failed: " + to_string(error.cause));
}

void Nic::tell_errors() noexcept {
  errors_.tell([this](const AsyncError& error) { report(error); });
}

bool Nic::progress_until(const std::function<bool()>& done, std::int64_t timeout_ns) {
  const auto look = [&] {
    progress();
    return done();
  };
  return look_until(job_.wait_policy(), timeout_ns, look, [this](std::int64_t left_ns) {
    Watched watched{this, nullptr, nullptr};
    sleep(job_, watched, {.timeout_ns = left_ns});
  });
}

}  // namespace viaduct::via::shm
