/// Control messages of provider shm, and everything that is not on the data path: called between
/// polls.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>
#include <string>

#include "runtime/atomic.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "via/shm/nic.hpp"

namespace viaduct::via::shm {

namespace {

/// Whether the places that a control message names lie in its writer's window. A control message is
/// memory that its writer can fill with anything; what it means is looked at where it is handled.
bool is_plausible(const ControlMessage& message, std::size_t window) noexcept {
  if (message.kind != ControlKind::request && message.kind != ControlKind::peer_request &&
      message.kind != ControlKind::accept)
    return message.kind <= ControlKind::error;
  constexpr unsigned kMinSlotsLog2 = 2;
  constexpr unsigned kMaxSlotsLog2 = 16;
  if (message.slots_log2 < kMinSlotsLog2 || message.slots_log2 > kMaxSlotsLog2) return false;
  const std::size_t bytes =
      ChannelHead::bytes_for(1U << message.slots_log2, (message.detail & kInlineOnly) != 0);
  return bytes <= window && message.channel <= window - bytes &&
         message.channel % alignof(ChannelHead) == 0 &&
         message.doorbell <= window - sizeof(CqDoorbell) &&
         message.doorbell % kCacheLineBytes == 0 && message.doorbell_bit < kMaxQueueVis;
}

}  // namespace

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
    p->mailbox_entry->message = message;
    p->mailbox_entry->full.store(1, kRelease);
    ring_mailbox(*p->page, *p->attention, job_.rank());
    wake(to);
  }
  // Behind the control message, as a pair with close(): if the peer's last look missed it, this
  // sees that the peer has closed.
  if (!has_closed(to)) return free;
  ring_mailbox(*page_, *attention_, to);  // handle_mailbox() will draw the consequences
  return true;
}

/// Closes the NIC's page: this rank reads no more mailbox. Peers that have written or may wait are
/// woken, so that they look at `closed`.
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

void Nic::post_control(Rank to, const ControlMessage& message, const RemotePart* part) {
  if (is_remote(to)) {
    std::array<std::byte, sizeof(ControlMessage) + sizeof(RemotePart)> bytes;
    std::memcpy(bytes.data(), &message, sizeof message);
    if (part != nullptr) std::memcpy(bytes.data() + sizeof message, part, sizeof *part);
    return transport_->send_control(
        to, std::span(bytes).first(part != nullptr ? bytes.size() : sizeof message));
  }
  const bool queued = std::any_of(outbox_.begin(), outbox_.end(),
                                  [to](const auto& entry) { return entry.first == to; });
  if (queued || !deliver(to, message)) outbox_.emplace_back(to, message);
}

bool Nic::control_waiting() const noexcept { return page_->control_waiting.load() != 0; }

/// Seen only when two threads are in progress() at the same moment, which they soon are.
void Nic::stop_second_thread() const noexcept {
  violate_contract("two threads of rank " + std::to_string(index(job_.rank())) +
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
    if (page_->control_waiting.load(kRelaxed) != 0) handle_mailbox();
    if (life_epoch_ != job_.life_epoch()) look_for_lost_peers();
    if (!outbox_.empty()) send_outbox();
    if (!waiting_vis_.empty()) {
      const auto waiting = std::move(waiting_vis_);
      waiting_vis_.clear();
      for (Vi* vi : waiting) {
        vi->run_pending();
        if (!vi->pending_.empty()) waiting_vis_.push_back(vi);
      }
    }
    if (!staged_.empty()) sweep_staged();
    if (transport_ != nullptr) take_control_messages();
  } catch (const std::exception& e) {
    job_.log().write(LogLevel::error, e.what());
  }
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

void Nic::handle_mailbox() {
  page_->control_waiting.store(0);
  for (std::uint32_t w = 0; w < (job_.size() + 63) / 64; ++w) {
    for (std::uint64_t bits = page_->mailbox_words[w].exchange(0); bits != 0; bits &= bits - 1) {
      const std::uint32_t from = w * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (from >= job_.size()) continue;
      MailboxEntry& entry = mailbox_[from];
      const bool closed = has_closed(Rank{from});  // before the last control message is looked for
      if (entry.full.load(kAcquire) != 0) {
        const ControlMessage message = entry.message;
        entry.full.store(0, kRelease);
        handle(Rank{from}, message);
      }
      if (closed)
        part_from([from](Rank rank) { return rank == Rank{from}; }, ErrorCause::disconnected);
    }
  }
}

void Nic::handle(Rank from, const ControlMessage& message, const RemotePart* part) {
  if (!is_plausible(message, job_.segment().window_bytes())) {
    job_.log().write(
        LogLevel::error,
        "a control message from rank " + std::to_string(index(from)) +
            " makes no sense and is dropped: is something writing into this rank's memory?");
    return;
  }
  if (!is_remote(from) && reach(from) == nullptr) return;
  switch (message.kind) {
    case ControlKind::request:
    case ControlKind::peer_request:
      return handle_request(from, message, part);
    case ControlKind::accept:
    case ControlKind::reject:
      return handle_answer(from, message, part);
    case ControlKind::cancel: {
      unmatched_.cancel(from, message.source_vi);
      for (Vi* vi : vis_)
        if (vi != nullptr && vi->state_ == ViState::connected && vi->peer_ == from &&
            vi->peer_vi_ == message.source_vi)
          return vi->peer_closed(ErrorCause::disconnected);  // we had taken it up already
      return acknowledge(from, message);
    }
    case ControlKind::disconnect:
    case ControlKind::error:
      return handle_final(from, message);
    case ControlKind::none:
      break;
  }
}

/// Tells a requester that nobody here reads its channel.
void Nic::acknowledge(Rank to, const ControlMessage& message) {
  ControlMessage final_message;
  final_message.kind = ControlKind::disconnect;
  final_message.target_vi = message.source_vi;
  post_control(to, final_message);
}

void Nic::handle_request(Rank from, const ControlMessage& message, const RemotePart* part) {
  if (is_remote(from) && (part == nullptr || message.kind != ControlKind::peer_request)) return;
  if (message.kind == ControlKind::peer_request) {
    for (Vi* vi : vis_) {
      if (vi == nullptr || vi->state_ != ViState::connecting ||
          vi->asked_ != ControlKind::peer_request || vi->peer_ != from ||
          vi->discriminator_ != message.discriminator ||
          (from == job_.rank() && vi->id_ == message.source_vi))
        continue;
      if (vi->compatible(message))
        return part != nullptr ? vi->attach_remote(message, *part) : vi->attach_peer(message);
      vi->answer(ConnectResult::mismatch,
                 0);  // the peer finds the same when our request reaches it
      return;
    }
  }
  unmatched_.add(from, message, part != nullptr ? std::make_shared<RemotePart>(*part) : nullptr);
  if (message.kind == ControlKind::peer_request && incoming_peer_)
    incoming_peer_(from, message.discriminator);
}

void Nic::handle_answer(Rank from, const ControlMessage& message, const RemotePart* part) {
  if (message.kind == ControlKind::accept && (is_remote(from) || part != nullptr)) return;
  Vi* vi = find_vi(message.target_vi);
  const bool waits = vi != nullptr && vi->state_ == ViState::connecting && vi->peer_ == from;
  if (message.kind == ControlKind::accept) {
    if (waits) return vi->attach_peer(message);
    return acknowledge(from, message);
  }
  if (waits) vi->answer(static_cast<ConnectResult>(message.detail), message.client_data);
}

void Nic::handle_final(Rank from, const ControlMessage& message) {
  const auto draining = std::find_if(
      draining_.begin(), draining_.end(),
      [&](const DrainingChannel& z) { return z.peer == from && z.vi == message.target_vi; });
  if (draining != draining_.end()) {
    job_.segment().release(draining->offset);
    draining_.erase(draining);
    return release_retired();
  }
  if (is_remote(from)) drain_transport();  // what was sent before the control message
  if (Vi* vi = find_vi(message.target_vi)) {
    const bool known = message.client_data <= static_cast<std::uint64_t>(ErrorCause::transport);
    const auto cause = message.kind == ControlKind::disconnect ? ErrorCause::disconnected
                       : known ? static_cast<ErrorCause>(message.client_data)
                               : ErrorCause::transport;
    if (cause == ErrorCause::format && vi->options_.inline_only && vi->state_ == ViState::connected)
      job_.log().write(LogLevel::error, "rank " + std::to_string(index(from)) +
                                            " has ended its connection with this rank, since what "
                                            "this rank had written made no sense there");
    vi->peer_closed(cause);
  }
}

void Nic::look_for_lost_peers() {
  life_epoch_ = job_.life_epoch();
  part_from([this](Rank rank) { return job_.is_lost(rank); }, ErrorCause::connection_lost);
}

/// Ends everything with ranks whose NIC is no more.
void Nic::part_from(const std::function<bool(Rank)>& gone, ErrorCause cause) {
  if (transport_ != nullptr) drain_transport();  // what they sent before
  ++transport_events_;                           // a caller that is about to sleep looks again
  unmatched_.forget(gone);
  std::erase_if(outbox_, [&](const auto& entry) { return gone(entry.first); });
  for (std::uint32_t r = 0; transport_ != nullptr && r < job_.size(); ++r)
    if (is_remote(Rank{r}) && gone(Rank{r})) transport_->forget(Rank{r});
  std::erase_if(draining_, [&](const DrainingChannel& z) {
    if (!gone(z.peer)) return false;
    job_.segment().release(z.offset);
    return true;
  });
  release_retired();
  for (std::size_t i = 0; i < vis_.size(); ++i) {
    Vi* vi = vis_[i];
    if (vi == nullptr || vi->state_ == ViState::idle || !gone(vi->peer_)) continue;
    if (vi->state_ == ViState::connecting) {
      vi->cause_ = cause;
      vi->answer(ConnectResult::unreachable, 0);
    } else {
      vi->peer_closed(cause);
    }
  }
}

void Nic::sweep_staged() noexcept {
  std::erase_if(staged_, [this](std::uint64_t offset) {
    auto* block = reinterpret_cast<StagedBlock*>(job_.segment().base() + offset);
    if (block->taken.load(kAcquire) == 0) return false;
    job_.segment().release(offset);
    return true;
  });
}

void Nic::release_when_parted(std::byte* address) noexcept {
  retired_.push_back({static_cast<std::uint64_t>(address - job_.segment().base()), draining_made_});
  release_retired();
}

void Nic::release_retired() noexcept {
  std::erase_if(retired_, [this](const Retired& r) {
    if (!draining_.empty() && draining_.front().number <= r.number) return false;
    job_.segment().release(r.offset);
    return true;
  });
}

void Nic::report(const AsyncError& error) noexcept {
  if (on_error_) {
    on_error_(error);
    return;
  }
  if (error.cause == ErrorCause::disconnected) return;
  job_.log().write(LogLevel::warn, std::string("shm: VI to rank ") +
                                       std::to_string(index(error.peer)) +
                                       " failed: " + to_string(error.cause));
}

bool Nic::progress_until(const std::function<bool()>& done, std::int64_t timeout_ns) {
  const std::uint64_t start = monotonic_ns();
  Backoff backoff(job_.wait_policy());
  for (;;) {
    progress();
    if (done()) return true;
    const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
    if (timeout_ns >= 0 && waited >= timeout_ns) return false;
    if (backoff.next() != Backoff::Stage::block_now) continue;
    Watched watched{this, nullptr, nullptr};
    sleep(job_, watched, {.timeout_ns = timeout_ns < 0 ? -1 : timeout_ns - waited});
  }
}

// Client and server form.

Status Nic::listen(std::uint64_t discriminator, ConnectionRequest& out, std::int64_t timeout_ns) {
  Unmatched* found = nullptr;
  const auto look = [&] { return (found = unmatched_.of_client(discriminator)) != nullptr; };
  if (!progress_until(look, timeout_ns)) return Status::timeout;
  found->offered = true;
  out.from = found->from;
  out.discriminator = discriminator;
  out.reliability = static_cast<Reliability>(found->message.detail & ~unsigned{kInlineOnly});
  out.ticket = found->ticket;
  return Status::ok;
}

Status Nic::accept(const ConnectionRequest& request, via::Vi& to) {
  auto& vi = static_cast<Vi&>(to);
  Unmatched* const found = unmatched_.of_ticket(request.ticket);
  if (vi.state_ != ViState::idle) return Status::bad_state;
  if (job_.is_lost(request.from)) return Status::peer_lost;
  if (found == nullptr) return Status::bad_argument;
  const ControlMessage message = unmatched_.take(found).message;
  if (!vi.compatible(message)) {
    refuse(request.from, message, ConnectResult::mismatch, 0);
    return Status::bad_argument;
  }
  vi.peer_ = request.from;
  vi.discriminator_ = request.discriminator;
  vi.prepare_channel();
  vi.attach_peer(message);
  post_control(request.from, vi.make_control_message(ControlKind::accept));
  return Status::ok;
}

void Nic::refuse(Rank to, const ControlMessage& request, ConnectResult why, std::uint64_t reason) {
  ControlMessage message;
  message.kind = ControlKind::reject;
  message.target_vi = request.source_vi;
  message.detail = static_cast<std::uint8_t>(why);
  message.client_data = reason;
  post_control(to, message);
}

void Nic::reject(const ConnectionRequest& request) {
  Unmatched* const found = unmatched_.of_ticket(request.ticket);
  if (found == nullptr) return;
  const Unmatched refused = unmatched_.take(found);
  refuse(refused.from, refused.message, ConnectResult::rejected, 0);
}

void Nic::reject_peer(Rank from, std::uint64_t discriminator, std::uint64_t reason) {
  Unmatched* const found = unmatched_.of_peer(from, discriminator);
  if (found == nullptr) return;
  refuse(from, unmatched_.take(found).message, ConnectResult::rejected, reason);
}

std::byte* Nic::incoming_extra(Rank from, std::uint64_t discriminator) {
  Unmatched* const found = unmatched_.of_peer(from, discriminator);
  if (found == nullptr || (found->message.detail & kInlineOnly) == 0) return nullptr;
  if (found->extra != nullptr) return found->extra->extra;
  // So much may be read there at least, whatever the request says.
  constexpr std::size_t kLeast = 4096;
  const std::size_t at =
      found->message.channel + ChannelHead::bytes_for(1U << found->message.slots_log2, true);
  if (at > job_.segment().window_bytes() - kLeast) return nullptr;
  return peer(from).window + at;
}

}  // namespace viaduct::via::shm
