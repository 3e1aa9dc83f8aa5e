/// Remote channels: those to ranks that share no memory with this one (docs/verbs.md).
///
/// The layer above uses the ring as between ranks that share memory. Two words that the layer reads
/// in any case make the difference: the channel's `wanted` is always set, so that every message
/// comes to ring_doorbell(), and the peer always sleeps, so that every change of the counters comes
/// to wake_peer(). A transport then takes the lines to the peer's copy of the channel, and the
/// counters to the peer's channel.
///
/// A line travels with its phase bit inverted: polls see it only after the transport has told of it
/// and its receiver has turned the bit.

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "via/channel/nic.hpp"
#include "via/channel/remote.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/parts.hpp"
#include "viaduct/via/channel/group.hpp"

namespace viaduct::via::channel {

namespace {

/// Upper bits of a notification.
enum class Sign : std::uint32_t {
  lines,    // with the number of the first, modulo 2^28
  wake_me,  // the writer is going to sleep and waits for our counters
  wake,     // they are there
};
constexpr unsigned kSignShift = 28;
constexpr std::uint32_t kNumberMask = (1U << kSignShift) - 1;
constexpr std::uint32_t notification_of(Sign sign, std::uint64_t number = 0) noexcept {
  return static_cast<std::uint32_t>(sign) << kSignShift |
         (static_cast<std::uint32_t>(number) & kNumberMask);
}

// The word that a remote channel reads in place of its peer's `sleeping`.
constinit const AtomicWord<std::uint32_t> kAlwaysAsleep{1};

// The time for messages sent before a disconnect to arrive: longer than all repetitions take.
constexpr std::uint64_t kDrainLimitNs = 5'000'000'000;

void turn_phase(Slot& slot) noexcept {
  slot.header.store(slot.header.load(kRelaxed) ^ header::phase_bit, kRelease);
}

}  // namespace

// Set-up.

RemoteEnd::RemoteEnd(ChannelEnd& c, std::size_t half_bytes)
    : half_bytes_(half_bytes), pieces_(c.options_.notifications), back_(c.options_.notifications) {
  Nic& nic = c.nic();
  link_ = nic.transport_->make_link(reinterpret_cast<std::byte*>(c.tx_), half_bytes,
                                    c.options_.notifications, &c);
  auto& all = nic.remote_channels_;
  if (std::find(all.begin(), all.end(), &c) == all.end()) all.push_back(&c);
  nic.backlog_.reserve(all.size());
  nic.posting_.reserve(all.size());
  nic.failures_.reserve(all.size());
}

RemotePart RemoteEnd::part(const ChannelEnd& c) const noexcept {
  RemotePart part;
  part.link = link_->name();
  const std::byte* extra =
      reinterpret_cast<const std::byte*>(c.tx_) + ChannelHead::bytes_for(c.tx_slot_count_);
  std::memcpy(part.extra, extra, std::min(sizeof part.extra, c.options_.extra_bytes));
  return part;
}

bool RemoteEnd::connect(ChannelEnd& c, const RemotePart& part) {
  c.peer_sleeping_ = &kAlwaysAsleep;
  c.rx_ = reinterpret_cast<ChannelHead*>(reinterpret_cast<std::byte*>(c.tx_) + half_bytes_);
  c.rx_slot_count_ = c.tx_slot_count_;
  c.rx_mask_ = c.rx_slot_count_ - 1;
  c.rx_slots_ = c.rx_->slots();
  c.peer_extra_ = reinterpret_cast<std::byte*>(c.rx_) + ChannelHead::bytes_for(c.rx_slot_count_);
  std::memcpy(c.peer_extra_, part.extra, std::min(sizeof part.extra, c.options_.extra_bytes));
  c.rx_->receiver.posted.store(c.rx_slot_count_);
  c.rx_seq_ = c.rx_released_ = 0;
  try {
    link_->connect(c.peer_, part.link);
  } catch (const std::exception& e) {
    c.nic().job().log().write(LogLevel::error, e.what());
    c.answer(ConnectResult::unreachable, 0, ErrorCause::connection_lost);  // ends this object
    return false;
  }
  connected_ = true;
  if (!pieces_.is_empty()) c.nic().add_to_backlog(c);  // they changed since the control message
  return true;
}

// Sending.

void RemoteEnd::add_piece(const ChannelEnd& c, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return;
  const auto offset = static_cast<std::uint32_t>(from - reinterpret_cast<const std::byte*>(c.tx_));
  pieces_.push({c.tx_seq_, {offset, static_cast<std::uint32_t>(bytes)}});
  line_waits_ = true;
}

void RemoteEnd::send_back(ChannelEnd& c, const std::byte* from, std::size_t bytes) {
  const auto offset = static_cast<std::uint32_t>(from - reinterpret_cast<const std::byte*>(c.rx_));
  back_.push({offset, static_cast<std::uint32_t>(bytes)});
  post_counters(c);
}

/// Posts the oldest piece by itself. False: no room.
bool RemoteEnd::post_piece() noexcept {
  if (!link_->post(std::span(&pieces_.front().piece, 1), 0, false)) return false;
  pieces_.pop();
  return true;
}

/// Posts the oldest message that has not been posted, behind the pieces that belong before it.
/// False: no room.
bool RemoteEnd::post_message(ChannelEnd& c) noexcept {
  const auto offset_of = [&c](const void* at) {
    return static_cast<std::uint32_t>(static_cast<const std::byte*>(at) -
                                      reinterpret_cast<const std::byte*>(c.tx_));
  };
  // More pieces than fit one post go before it.
  while (pieces_.size() > 1 && pieces_[1].before <= lines_posted_)
    if (!post_piece()) return false;
  std::array<Link::Piece, Link::kMaxPieces> pieces;
  std::size_t count = 0;
  const bool with_piece = !pieces_.is_empty() && pieces_.front().before <= lines_posted_;
  if (with_piece) pieces[count++] = pieces_.front().piece;
  Slot* const slot = &c.tx_slots_[lines_posted_ & c.tx_mask_];
  const std::uint32_t lines = 1 + header::extra_lines(slot->header.load(kRelaxed));
  const auto to_end = static_cast<std::uint32_t>(c.tx_slot_count_ - (lines_posted_ & c.tx_mask_));
  constexpr auto kLine = static_cast<std::uint32_t>(sizeof(Slot));
  pieces[count++] = {offset_of(slot), std::min(lines, to_end) * kLine};
  if (lines > to_end) pieces[count++] = {offset_of(c.tx_slots_), (lines - to_end) * kLine};
  if (!link_->post(std::span(pieces).first(count), notification_of(Sign::lines, lines_posted_),
                   true))
    return false;
  if (with_piece) pieces_.pop();
  lines_posted_ += lines;
  published_unseen_ = false;
  return true;
}

/// Posts all messages, unless counters are to go first. False: no room, and the NIC has the channel
/// in its backlog.
bool RemoteEnd::post_all(ChannelEnd& c) noexcept {
  while (lines_posted_ != c.tx_seq_) {
    if (!counters_changed_ && back_.is_empty() && post_message(c)) continue;
    c.nic().add_to_backlog(c);
    return false;
  }
  return true;
}

void RemoteEnd::post_lines(ChannelEnd& c) noexcept {
  VIADUCT_PART(bookkeeping);
  // One line, and nothing before it.
  static_assert(sizeof(Slot) == Link::kLineBytes);
  const std::uint64_t number = lines_posted_;
  if (number + 1 != c.tx_seq_ || line_waits_) [[unlikely]]
    return post_lines_slow(c);
  Slot* const slot = &c.tx_slots_[number & c.tx_mask_];
  turn_phase(*slot);
  const auto offset = static_cast<std::uint32_t>(reinterpret_cast<std::byte*>(slot) -
                                                 reinterpret_cast<std::byte*>(c.tx_));
  if (!link_->post_line(offset, notification_of(Sign::lines, number))) [[unlikely]]
    return c.nic().add_to_backlog(c);
  ++lines_posted_;
  published_unseen_ = false;
}

void RemoteEnd::post_lines_slow(ChannelEnd& c) noexcept {
  if (counters_changed_) post_counters(c);
  // Only the new lines: the bits of lines in the backlog have been turned.
  std::uint64_t from = c.tx_seq_ - 1;
  while (header::kind(c.tx_slots_[from & c.tx_mask_].header.load(kRelaxed)) ==
         MessageKind::continuation)
    --from;
  for (; from != c.tx_seq_; ++from) turn_phase(c.tx_slots_[from & c.tx_mask_]);
  if (post_all(c)) line_waits_ = counters_changed_ || !pieces_.is_empty();
}

void RemoteEnd::post_counters(ChannelEnd& c) noexcept {
  if (!connected_) return;
  constexpr Link::Piece kCounters{offsetof(ReceiverLine, checked), sizeof(ReceiverLine::checked)};
  ReceiverLine& line = c.rx_->receiver;
  const auto show = [&line](std::size_t at, const AtomicWord<std::uint64_t>& counter) {
    line.checked[at].store(checked_counter::word_of(counter.load(kRelaxed)), kRelaxed);
  };
  show(0, line.posted);
  show(1, line.client_counter[0]);
  show(2, line.client_counter[1]);
  counters_changed_ = line_waits_ = true;
  while (!back_.is_empty()) {
    if (!link_->post_back(back_.front(), 0, false)) return c.nic().add_to_backlog(c);
    back_.pop();
  }
  if (!link_->post_back(kCounters, notification_of(Sign::wake), wake_wanted_))
    return c.nic().add_to_backlog(c);
  published_unseen_ = !wake_wanted_;
  counters_changed_ = wake_wanted_ = false;
  line_waits_ = !pieces_.is_empty();
}

void RemoteEnd::post_backlog(ChannelEnd& c) noexcept {
  if (!connected_) return;
  if (counters_changed_) post_counters(c);
  if (!post_all(c)) return;
  while (!pieces_.is_empty())
    if (!post_piece()) return c.nic().add_to_backlog(c);
}

bool RemoteEnd::ask_to_be_woken(const ChannelEnd& c) noexcept {
  if (!connected_ || wake_asked_ || link_->failed()) return true;
  if (c.tx_seq_ == 0) return true;  // the peer holds no message of ours
  wake_asked_ = link_->post_back({0, 0}, notification_of(Sign::wake_me), true);
  return wake_asked_;
}

bool RemoteEnd::flushed(ChannelEnd& c) noexcept {
  if (c.state_ == ViState::connecting) return false;  // the bytes in its control message are old
  while (!pieces_.is_empty())
    if (lines_posted_ != c.tx_seq_ || !post_piece()) return false;
  return link_->drained();
}

void Channel::add_piece(const std::byte* from, std::size_t bytes) noexcept {
  if (remote_ != nullptr) remote_->add_piece(*this, from, bytes);
}

void Channel::send_back(const std::byte* from, std::size_t bytes) noexcept {
  if (remote_ != nullptr) remote_->send_back(*this, from, bytes);
}

/// Takes in the counters that the peer's post_counters() has written.
void Channel::take_counters() const noexcept {
  ReceiverLine& line = tx_->receiver;
  const auto take = [&line](std::size_t at, AtomicWord<std::uint64_t>& counter) {
    counter.store(checked_counter::take(line.checked[at].load(kAcquire), counter.load(kRelaxed)),
                  kRelaxed);
  };
  take(0, line.posted);
  take(1, line.client_counter[0]);
  take(2, line.client_counter[1]);
}

bool Channel::flush_extra() noexcept {
  const auto is_open = [this] {
    return remote_ != nullptr && (state_ == ViState::connected || state_ == ViState::connecting);
  };
  if (!is_open()) return true;
  const std::uint64_t start = monotonic_ns();
  while (!remote_->flushed(*this)) {
    nic().post_backlog();
    if (!is_open()) return false;
    if (remote_->link_->failed() || monotonic_ns() - start > kDrainLimitNs) {
      if (remote_->connected_) nic().add_to_backlog(*this);  // to be posted all the same
      return false;
    }
    sched_yield();
  }
  return !remote_->link_->failed();
}

bool Channel::takes_copies() const noexcept {
  return remote_ == nullptr || remote_->takes_copies();
}

Link* Channel::link() const noexcept { return remote_ != nullptr ? remote_->open_link() : nullptr; }

// Receiving.

[[gnu::always_inline]] inline ErrorCause RemoteEnd::take(ChannelEnd& c,
                                                         const LinkEvent& event) noexcept {
  if (event.failure != ErrorCause::none) [[unlikely]]
    return event.failure;
  if (c.rx_slots_ == nullptr) [[unlikely]]
    return ErrorCause::none;
  const auto sign = static_cast<Sign>(event.notification >> kSignShift);
  if (sign == Sign::lines) [[likely]]
    return take_lines(c, event.notification & kNumberMask);
  take_sign(c, sign == Sign::wake_me);
  return ErrorCause::none;
}

/// @p wanted: the peer is going to sleep; else it has told of its counters.
void RemoteEnd::take_sign(ChannelEnd& c, bool wanted) noexcept {
  if (!wanted) {
    wake_asked_ = false;
    return;
  }
  wake_wanted_ = true;
  if (c.rx_released_ != c.rx_seq_)
    c.release_slots();
  else if (published_unseen_ || counters_changed_)
    post_counters(c);
}

[[gnu::always_inline]] inline ErrorCause RemoteEnd::take_lines(ChannelEnd& c,
                                                               std::uint32_t number) noexcept {
  VIADUCT_PART(processing);
  const std::uint64_t at = lines_arrived_;
  Slot& first = c.rx_slots_[at & c.rx_mask_];
  const std::uint32_t more = header::extra_lines(first.header.load(kRelaxed));
  if (number != (static_cast<std::uint32_t>(at) & kNumberMask) || more >= kMaxLines) [[unlikely]]
    return ErrorCause::format;
  for (std::uint32_t i = more; i != 0; --i) turn_phase(c.rx_slots_[(at + i) & c.rx_mask_]);
  turn_phase(first);
  lines_arrived_ = at + 1 + more;
  c.group().list_ready(c);
  return ErrorCause::none;
}

void Nic::poll_transport() noexcept {
  LinkEvents events;
  const std::size_t n = transport_->poll(events);
  events_ += n;
  const auto all = std::span<const LinkEvent>(events).first(n);
  for (const LinkEvent& event : all) {
    auto& channel = *static_cast<ChannelEnd*>(event.owner);
    if (channel.remote_->take(channel, event) != ErrorCause::none) [[unlikely]] {
      take_failures(std::span(&event, std::to_address(all.end())));
      break;
    }
  }
  if (!backlog_.empty()) [[unlikely]]
    post_whole_backlog();
}

/// Takes @p events, the first of which is a failure, and then handles the failures: that may end
/// other channels, and poll the transport, whose next events come behind these.
///
/// The peer of a failed link may have ended the connection in good order, and said so: control
/// messages are handled first, and only then the failures. Within progress() the call here returns
/// at once, and the progress() that is under way handles both.
void Nic::take_failures(std::span<const LinkEvent> events) noexcept {
  for (const LinkEvent& event : events) {
    auto& channel = *static_cast<ChannelEnd*>(event.owner);
    const auto is_its = [&channel](const auto& failure) { return failure.first == &channel; };
    if (std::any_of(failures_.begin(), failures_.end(), is_its)) continue;
    const ErrorCause cause = channel.remote_->take(channel, event);
    if (cause == ErrorCause::none) continue;
    failures_.emplace_back(&channel, cause);
    if (event.failure == ErrorCause::none)
      job_.log().write(LogLevel::error, "rank " + std::to_string(index(channel.peer_)) +
                                            " has sent a slot out of turn: the connection ends");
  }
  progress();
  if (in_progress_ == std::thread::id()) handle_failures();  // those that an exception has left
}

void Nic::handle_failures() noexcept {
  while (!failures_.empty()) {
    const auto [channel, cause] = failures_.front();
    failures_.erase(failures_.begin());
    ++events_;  // a caller that is about to sleep looks again
    RemoteEnd::fail(*channel, cause);
  }
}

void Nic::post_whole_backlog() noexcept {
  posting_.swap(backlog_);
  for (ChannelEnd* channel : posting_) {
    channel->remote_->in_backlog_ = false;
    channel->remote_->post_backlog(*channel);
  }
  posting_.clear();
}

void Nic::add_to_backlog(ChannelEnd& channel) noexcept {
  if (std::exchange(channel.remote_->in_backlog_, true)) return;
  backlog_.push_back(&channel);
}

void RemoteEnd::fail(ChannelEnd& c, ErrorCause cause) noexcept {
  if (c.state_ == ViState::connected) c.nic().connections_.stop(c.end_, cause);
  c.peer_closed(cause);
}

// The end.

void RemoteEnd::drain(ChannelEnd& c) noexcept {
  if (!connected_) return;
  Nic& nic = c.nic();
  const std::uint64_t start = monotonic_ns();
  while (nic.connections_.connector().is_open(c.end_) && !nic.job().is_lost(c.peer_) &&
         !link_->failed() && monotonic_ns() - start < kDrainLimitNs) {
    post_backlog(c);
    if (lines_posted_ == c.tx_seq_ && !counters_changed_ && link_->drained()) return;
    if (c.tx_seq_ == 0 && !link_->ready()) return;  // nothing was sent, and nothing can be
    if (nic.in_progress_ == std::this_thread::get_id()) return;
    nic.progress();
    sched_yield();
  }
}

void Nic::give_up(ChannelEnd& channel) noexcept {
  if (channel.remote_ != nullptr) RemoteEnd::fail(channel, ErrorCause::connection_lost);
  channel.leave_ring();
}

/// From here on the peer writes nothing to this end, and this end writes nothing to the peer.
void ChannelEnd::end_link() noexcept {
  if (remote_ == nullptr) return;
  std::erase(nic().backlog_, this);
  std::erase_if(nic().failures_, [this](const auto& failure) { return failure.first == this; });
  group().unlist(*this);
  remote_.reset();
}

}  // namespace viaduct::via::channel
