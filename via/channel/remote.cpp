/// Remote channels: those to ranks that share no memory with this one (docs/verbs.md).
///
/// The layer above writes into the ring and reads from one as ever. Two words that it looks at
/// anyway make the difference: the channel's `wanted` is always set, so that every message comes to
/// ring_doorbell(), and the peer always sleeps, so that every change of the counters comes to
/// wake_peer(). A transport then takes the lines to the peer's copy of the channel, and the
/// counters to the peer's channel.
///
/// A line travels with its phase bit inverted: it is seen when the transport has told of it, and
/// its receiver has turned the bit.

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "via/channel/nic.hpp"
#include "via/channel/remote.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
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

// For what was sent before a disconnect to arrive: longer than all repetitions take.
constexpr std::uint64_t kDrainLimitNs = 5'000'000'000;

void turn_phase(Slot& slot) noexcept {
  slot.header.store(slot.header.load(kRelaxed) ^ header::phase_bit, kRelease);
}

}  // namespace

// Set-up.

void Channel::make_link(std::size_t half_bytes) {
  remote_ = std::make_unique<Remote>();
  remote_->half_bytes = half_bytes;
  remote_->link = nic().transport_->make_link(reinterpret_cast<std::byte*>(tx_), half_bytes,
                                              options_.notifications, this);
  if (std::find(nic().remote_channels_.begin(), nic().remote_channels_.end(), this) ==
      nic().remote_channels_.end())
    nic().remote_channels_.push_back(this);
}

RemotePart Channel::make_part() const noexcept {
  RemotePart part;
  part.link = remote_->link->name();
  const std::byte* extra =
      reinterpret_cast<const std::byte*>(tx_) + ChannelHead::bytes_for(tx_slot_count_);
  std::memcpy(part.extra, extra, std::min(sizeof part.extra, options_.extra_bytes));
  return part;
}

/// Takes up the peer's link.  @return false: the attempt has been answered.
bool Channel::take_up_remote(const RemotePart& part) {
  Remote& remote = *remote_;
  peer_sleeping_ = &kAlwaysAsleep;
  rx_ = reinterpret_cast<ChannelHead*>(reinterpret_cast<std::byte*>(tx_) + remote.half_bytes);
  rx_slot_count_ = tx_slot_count_;
  rx_mask_ = rx_slot_count_ - 1;
  rx_slots_ = rx_->slots();
  peer_extra_ = reinterpret_cast<std::byte*>(rx_) + ChannelHead::bytes_for(rx_slot_count_);
  std::memcpy(peer_extra_, part.extra, std::min(sizeof part.extra, options_.extra_bytes));
  rx_->receiver.posted.store(rx_slot_count_);
  rx_seq_ = rx_released_ = 0;
  try {
    remote.link->connect(peer_, part.link);
  } catch (const std::exception& e) {
    nic_.job().log().write(LogLevel::error, e.what());
    answer(ConnectResult::unreachable, 0, ErrorCause::connection_lost);
    return false;
  }
  remote.connected = true;
  if (!remote.pieces.empty())
    nic().add_to_backlog(*this);  // they changed since the control message
  return true;
}

// Sending.

void Channel::add_piece(const std::byte* from, std::size_t bytes) noexcept {
  if (remote_ == nullptr || bytes == 0) return;
  const auto offset = static_cast<std::uint32_t>(from - reinterpret_cast<const std::byte*>(tx_));
  remote_->pieces.push_back({tx_seq_, {offset, static_cast<std::uint32_t>(bytes)}});
  remote_->line_waits = true;
}

void Channel::send_back(const std::byte* from, std::size_t bytes) noexcept {
  if (remote_ == nullptr) return;
  const auto offset = static_cast<std::uint32_t>(from - reinterpret_cast<const std::byte*>(rx_));
  remote_->back.push_back({offset, static_cast<std::uint32_t>(bytes)});
  post_counters();
}

/// The oldest message that has not been posted, behind the pieces that belong before it. False: no
/// room.
bool Channel::post_message() noexcept {
  Remote& remote = *remote_;
  const auto offset_of = [this](const void* at) {
    return static_cast<std::uint32_t>(static_cast<const std::byte*>(at) -
                                      reinterpret_cast<const std::byte*>(tx_));
  };
  // More pieces than fit one post go before it.
  while (remote.pieces.size() > 1 && remote.pieces[1].before <= remote.lines_posted) {
    if (!remote.link->post(std::span(&remote.pieces.front().piece, 1), 0, false)) return false;
    remote.pieces.pop_front();
  }
  std::array<Link::Piece, Link::kMaxPieces> pieces;
  std::size_t count = 0;
  const bool with_piece =
      !remote.pieces.empty() && remote.pieces.front().before <= remote.lines_posted;
  if (with_piece) pieces[count++] = remote.pieces.front().piece;
  Slot* const slot = &tx_slots_[remote.lines_posted & tx_mask_];
  const std::uint32_t lines = 1 + header::extra_lines(slot->header.load(kRelaxed));
  const auto to_end = static_cast<std::uint32_t>(tx_slot_count_ - (remote.lines_posted & tx_mask_));
  constexpr auto kLine = static_cast<std::uint32_t>(sizeof(Slot));
  pieces[count++] = {offset_of(slot), std::min(lines, to_end) * kLine};
  if (lines > to_end) pieces[count++] = {offset_of(tx_slots_), (lines - to_end) * kLine};
  if (!remote.link->post(std::span(pieces).first(count),
                         notification_of(Sign::lines, remote.lines_posted), true))
    return false;
  if (with_piece) remote.pieces.pop_front();
  remote.lines_posted += lines;
  remote.published_unseen = false;
  return true;
}

/// Lines that have just been written, and those that found no room before.
void Channel::post_lines() noexcept {
  if (remote_ == nullptr) return;  // it has ended
  Remote& remote = *remote_;
  // One line, and nothing before it.
  static_assert(sizeof(Slot) == Link::kLineBytes);
  const std::uint64_t number = remote.lines_posted;
  if (number + 1 != tx_seq_ || remote.line_waits) [[unlikely]]
    return post_lines_slow();
  Slot* const slot = &tx_slots_[number & tx_mask_];
  turn_phase(*slot);
  const auto offset = static_cast<std::uint32_t>(reinterpret_cast<std::byte*>(slot) -
                                                 reinterpret_cast<std::byte*>(tx_));
  if (!remote.link->post_line(offset, notification_of(Sign::lines, number))) [[unlikely]]
    return nic().add_to_backlog(*this);
  remote.lines_posted = number + 1;
  remote.published_unseen = false;
}

void Channel::post_lines_slow() noexcept {
  Remote& remote = *remote_;
  if (remote.counters_changed) post_counters();
  // Only the new ones: those that were held back have been turned.
  std::uint64_t from = tx_seq_ - 1;
  while (header::kind(tx_slots_[from & tx_mask_].header.load(kRelaxed)) ==
         MessageKind::continuation)
    --from;
  for (; from != tx_seq_; ++from) turn_phase(tx_slots_[from & tx_mask_]);
  while (remote.lines_posted != tx_seq_)
    if (remote.counters_changed || !remote.back.empty() || !post_message())
      return nic().add_to_backlog(*this);
  remote.line_waits = remote.counters_changed || !remote.pieces.empty();
}

void Channel::post_counters() noexcept {
  if (remote_ == nullptr || !remote_->connected) return;
  Remote& remote = *remote_;
  constexpr Link::Piece kCounters{offsetof(ReceiverLine, checked), sizeof(ReceiverLine::checked)};
  ReceiverLine& line = rx_->receiver;
  const auto show = [&line](std::size_t at, const AtomicWord<std::uint64_t>& counter) {
    line.checked[at].store(checked_counter::word_of(counter.load(kRelaxed)), kRelaxed);
  };
  show(0, line.posted);
  show(1, line.client_counter[0]);
  show(2, line.client_counter[1]);
  remote.counters_changed = remote.line_waits = true;
  while (!remote.back.empty()) {
    if (!remote.link->post_back(remote.back.front(), 0, false)) return nic().add_to_backlog(*this);
    remote.back.erase(remote.back.begin());
  }
  if (!remote.link->post_back(kCounters, notification_of(Sign::wake), remote.wake_wanted))
    return nic().add_to_backlog(*this);
  remote.published_unseen = !remote.wake_wanted;
  remote.counters_changed = remote.wake_wanted = false;
  remote.line_waits = !remote.pieces.empty();
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

/// Posts what was held back.
void Channel::post_backlog() noexcept {
  Remote& remote = *remote_;
  if (!remote.connected) return;
  if (remote.counters_changed) post_counters();
  while (remote.lines_posted != tx_seq_)
    if (remote.counters_changed || !remote.back.empty() || !post_message())
      return nic().add_to_backlog(*this);
  while (!remote.pieces.empty()) {
    if (!remote.link->post(std::span(&remote.pieces.front().piece, 1), 0, false))
      return nic().add_to_backlog(*this);
    remote.pieces.pop_front();
  }
}

/// Before this rank sleeps: whoever has had something of ours is to tell when its counters change,
/// which may be credits of the layer above, though all lines are free. False: no room to ask.
bool Channel::ask_to_be_woken() noexcept {
  Remote& remote = *remote_;
  if (!remote.connected || remote.wake_asked || remote.link->failed()) return true;
  if (tx_seq_ == 0) return true;  // it holds nothing of ours
  remote.wake_asked = remote.link->post_back({0, 0}, notification_of(Sign::wake_me), true);
  return remote.wake_asked;
}

bool Channel::flush_extra() noexcept {
  const auto is_open = [this] {
    return remote_ != nullptr && (state_ == ViState::connected || state_ == ViState::connecting);
  };
  const std::uint64_t start = monotonic_ns();
  const auto waits = [&] {
    nic_.progress();
    nic().poll_transport();
    if (!is_open() || remote_->link->failed() || monotonic_ns() - start > kDrainLimitNs)
      return false;
    sched_yield();
    return true;
  };
  const auto flushed = [this] {
    Remote& remote = *remote_;
    if (state_ == ViState::connecting) return false;  // what its control message says is old by now
    while (!remote.pieces.empty()) {
      if (remote.lines_posted != tx_seq_ ||
          !remote.link->post(std::span(&remote.pieces.front().piece, 1), 0, false))
        return false;
      remote.pieces.pop_front();
    }
    return remote.link->drained();
  };
  if (!is_open()) return true;
  while (!flushed()) {
    if (waits()) continue;
    if (is_open() && remote_->connected) nic().add_to_backlog(*this);  // to be posted all the same
    return false;
  }
  return !remote_->link->failed();
}

bool Channel::takes_copies() const noexcept {
  return remote_ == nullptr || !remote_->connected || remote_->link->failed() ||
         remote_->link->ready();
}

Link* Channel::link() const noexcept {
  const bool open = remote_ != nullptr && remote_->connected && !remote_->link->failed();
  return open ? remote_->link.get() : nullptr;
}

// Receiving.

inline void Channel::take_notification(std::uint32_t notification) noexcept {
  if (remote_ == nullptr || rx_slots_ == nullptr) [[unlikely]]
    return;
  const auto sign = static_cast<Sign>(notification >> kSignShift);
  if (sign == Sign::lines) [[likely]]
    return take_lines(notification & kNumberMask);
  take_sign(sign == Sign::wake_me);
}

/// @p wanted: the peer is going to sleep; else it has told of its counters.
void Channel::take_sign(bool wanted) noexcept {
  Remote& remote = *remote_;
  if (!wanted) {
    remote.wake_asked = false;
    return;
  }
  remote.wake_wanted = true;
  if (rx_released_ != rx_seq_)
    release_slots();
  else if (remote.published_unseen || remote.counters_changed)
    post_counters();
}

inline void Channel::take_lines(std::uint32_t number) noexcept {
  Remote& remote = *remote_;
  const std::uint64_t at = remote.lines_arrived;
  Slot& first = rx_slots_[at & rx_mask_];
  const std::uint32_t more = header::extra_lines(first.header.load(kRelaxed));
  if (number != (static_cast<std::uint32_t>(at) & kNumberMask) || more >= kMaxLines) [[unlikely]]
    return refuse_lines();
  for (std::uint32_t i = more; i != 0; --i) turn_phase(rx_slots_[(at + i) & rx_mask_]);
  turn_phase(first);
  remote.lines_arrived = at + 1 + more;
  group().list_ready(*this);
}

void Channel::refuse_lines() noexcept {
  nic_.job().log().write(LogLevel::error, "rank " + std::to_string(index(peer_)) +
                                              " has sent a slot out of turn: the connection ends");
  link_failed(ErrorCause::format);
}

void Nic::poll_transport() noexcept {
  std::array<LinkEvent, 16> events;
  const std::size_t n = transport_->poll(events);
  events_ += n;
  for (std::size_t i = 0; i < n; ++i) {
    auto& channel = *static_cast<Channel*>(events[i].owner);
    if (events[i].failure == ErrorCause::none) [[likely]]
      channel.take_notification(events[i].notification);
    else
      take_failure(channel, events[i].failure);
  }
  if (!backlog_.empty()) [[unlikely]]
    post_whole_backlog();
}

void Nic::take_failure(Channel& channel, ErrorCause cause) noexcept {
  progress();  // its peer may have ended the connection in good order, and said so
  if (std::find(remote_channels_.begin(), remote_channels_.end(), &channel) !=
      remote_channels_.end())
    channel.link_failed(cause);
}

void Nic::post_whole_backlog() noexcept {
  const auto held = std::move(backlog_);
  backlog_.clear();
  for (Channel* channel : held) {
    channel->remote_->in_backlog = false;
    channel->post_backlog();
  }
}

void Nic::add_to_backlog(Channel& channel) noexcept {
  if (channel.remote_->in_backlog) return;
  channel.remote_->in_backlog = true;
  backlog_.push_back(&channel);
}

/// Nothing gets through to the peer any more, whose own half may be well: it is told by a control
/// message.
void Channel::link_failed(ErrorCause cause) noexcept {
  if (state_ == ViState::connected) nic().connections_.stop(end_, cause);
  peer_closed(cause);
}

// The end.

/// Waits until all that was sent has arrived, or the peer has ended the connection, too.
void Channel::drain_link() noexcept {
  if (remote_ == nullptr || !remote_->connected) return;
  const std::uint64_t start = monotonic_ns();
  while (nic().connections_.connector().is_open(end_) && !nic_.job().is_lost(peer_) &&
         !remote_->link->failed() && monotonic_ns() - start < kDrainLimitNs) {
    post_backlog();
    if (remote_->lines_posted == tx_seq_ && !remote_->counters_changed && remote_->link->drained())
      return;
    if (tx_seq_ == 0 && !remote_->link->ready()) return;  // nothing was sent, and nothing can be
    if (nic().in_progress_ == std::this_thread::get_id()) return;
    nic_.progress();
    sched_yield();
  }
}

/// No write of the peer's, and none to it, from here on.
void Channel::end_link() noexcept {
  if (remote_ == nullptr) return;
  std::erase(nic().backlog_, this);
  group().unlist(*this);
  remote_.reset();
}

}  // namespace viaduct::via::channel
