/// Channels: set-up, the slow paths of sending, nonsense, and the end.

#include "viaduct/via/channel/channel.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string>

#include "via/channel/nic.hpp"
#include "via/channel/remote.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/channel/group.hpp"

namespace viaduct::via::channel {

namespace {

/// The ring of a channel that has broken off: one slot that stays empty. Its counters accept
/// writes, which no rank reads.
struct Nowhere {
  ChannelHead head;
  Slot slot;
};
constinit Nowhere nowhere{};

/// The extra bytes of a peer that may not be read: as many as Nic::incoming_extra() promises.
alignas(kDestructivePairBytes) constinit std::array<std::byte, 4096> no_extra{};

}  // namespace

Group::Group(Nic& nic) : shm::PollSet(nic) {}

void Group::keep_own_house() noexcept {
  if (housekeeping_ != nullptr) housekeeping_(housekeeping_with_);
}

Channel* Group::count_full_poll(std::uint32_t budget, std::uint64_t number) noexcept {
  constexpr std::uint64_t kLately = 8;   // polls since the last full one
  constexpr std::uint64_t kSilent = 64;  // polls without a message: of another channel
  if (number - full_at_ > kLately) full_polls_ = 0;
  full_at_ = number;
  if (full_polls_ < kStream) {
    const std::uint64_t now = ticks_now();
    if (full_polls_ == 0) since_ = now;
    if (++full_polls_ < kStream) return nullptr;
    const std::uint64_t messages = std::uint64_t{kStream - 1} * budget;
    const std::uint64_t ticks = now - since_;
    if (ticks < messages * pace_.least || ticks > messages * pace_.most) {
      full_polls_ = 0;
      return nullptr;
    }
  }
  Channel* only = nullptr;
  for (std::uint32_t i = 0; i < hot_count_; ++i) {
    auto* const channel = static_cast<Channel*>(hot_[i]);
    if (number - channel->in_set_.last_active > kSilent) continue;
    if (only != nullptr) return nullptr;
    only = channel;
  }
  return only;
}

bool Group::is_well_ahead(const Channel& channel) noexcept {
  constexpr int kLooks = 10;
  const auto lead = static_cast<std::uint32_t>((channel.rx_mask_ + 1) * 3 / 16);
  // Aside: a handler has set it so. Its own sender: this thread, which is here.
  for (int look = 0; look < kLooks; ++look) {
    if (channel.in_set_.hot_at < 0 || channel.rx_slots_ == channel.tx_slots_) break;
    if (channel.arrived_ahead(lead) != nullptr) return true;
    __builtin_ia32_pause();
  }
  full_polls_ = 0;
  return false;
}

bool Group::may_go_on(Channel& channel, std::uint64_t ahead, bool in_time) noexcept {
  channel.in_set_.last_active = ++tick_;
  full_at_ = tick_ + ahead;
  if (!in_time) full_polls_ = 0;
  if (!in_time || has_more_to_do(tick_ + ahead)) return false;
  return std::none_of(hot_.begin(), hot_.begin() + hot_count_, [&](shm::Connection* other) {
    return other != &channel && other->has_arrivals();
  });
}

/// Polls ask the transport from now on.
void Group::expect_transport() noexcept { doorbell_->summary.fetch_or(shm::kTransportBit); }

ChannelEnd::ChannelEnd(Nic& nic, Group& group, void* context, const Options& options)
    : shm::Connection(nic, group), context_(context), options_(options) {
  join_set();
  if (options_.remote) group.expect_transport();
}

ChannelEnd::~ChannelEnd() {
  disconnect();
  if (!nic_.job().in_forked_child()) drop_ring(ErrorCause::none);  // no peer knows of it
  if (options_.remote) std::erase(nic().remote_channels_, this);
  leave_set();
}

Nic& ChannelEnd::nic() const noexcept { return static_cast<Nic&>(nic_); }

// Set-up.

void ChannelEnd::prepare_ring() {
  if (tx_ != nullptr) return;
  std::size_t bytes = ChannelHead::bytes_for(options_.slots) + options_.extra_bytes;
  if (options_.remote) bytes = (bytes + kDestructivePairBytes - 1) & ~(kDestructivePairBytes - 1);
  allocate_ring(options_.slots, options_.remote ? 2 * bytes : bytes);
  tx_->receiver.posted.store(options_.slots);
  if (options_.remote) remote_ = std::make_unique<RemoteEnd>(*this, bytes);
}

std::byte* ChannelEnd::prepare_extra() {
  prepare_ring();
  return reinterpret_cast<std::byte*>(tx_) + ChannelHead::bytes_for(tx_slot_count_);
}

std::uint32_t ChannelEnd::shape() const noexcept {
  constexpr unsigned kLinesShift = 8;
  std::uint32_t shape = shm::kOfChannel;
  if (options_.remote)
    shape |= static_cast<std::uint32_t>(std::countr_zero(options_.slots)) << kLinesShift;
  return shape;
}

std::vector<std::byte> ChannelEnd::offer() const {
  return options_.remote ? data_of(remote_->part(*this)) : Connection::offer();
}

/// The peer of a remote channel reads a copy, so the Connector does not release the ring.
std::uint64_t ChannelEnd::half() const noexcept { return options_.remote ? 0 : tx_offset_; }

Status ChannelEnd::check_way(Rank peer) {
  if (nic().is_remote(peer) != options_.remote) return Status::bad_argument;
  return options_.remote || nic().reach(peer) != nullptr ? Status::ok : Status::peer_lost;
}

bool ChannelEnd::take_up(const std::vector<std::byte>& offer) {
  if (options_.remote) {
    RemotePart part;
    return read_data(offer, part) && remote_->connect(*this, part);
  }
  shm::ChannelOffer theirs;
  if (!read_data(offer, theirs)) return false;
  map_ring(theirs);
  rx_released_ = 0;
  peer_sleeping_ = &nic_.job().record(peer_).sleeping;
  peer_extra_ = reinterpret_cast<std::byte*>(rx_) + ChannelHead::bytes_for(rx_slot_count_);
  return true;
}

void ChannelEnd::on_attached() noexcept {
  // The peer may have sent and rung already, when polls did not yet look at this ring.
  if (!options_.remote) group().ring_self(in_set_.bit);
}

// Sending.

bool Channel::refresh_room(std::uint32_t slots) noexcept {
  if (state_ != ViState::connected) return false;
  if (options_.remote) take_counters();
  take_room(tx_->receiver.posted.load(kAcquire));
  return state_ == ViState::connected && tx_limit_ - tx_seq_ >= slots;
}

namespace {

/// Copies @p bytes bytes, at most those of a slot, without a call or a loop. The word with the last
/// of them is written whole.
[[gnu::always_inline]] inline void put_bytes(std::uint64_t* to, const std::byte* from,
                                             std::size_t bytes) noexcept {
  const auto put = [&](std::size_t piece) {
    if (bytes < piece) return;
    std::memcpy(to, from, piece);
    to += piece / 8;
    from += piece;
    bytes -= piece;
  };
  put(32);
  put(16);
  put(8);
  if (bytes != 0) {
    std::uint64_t last = 0;
    std::memcpy(&last, from, bytes);
    *to = last;
  }
}

/// A message of several slots: @p words, and @p data behind them.
struct Message {
  std::span<const std::uint64_t> words;
  std::span<const std::byte> data;

  /// Puts the part of slot @p i there, without the header.
  [[gnu::always_inline]] void put(Slot& slot, std::size_t i) const noexcept {
    std::size_t from = i * kWordsPerSlot;
    if (words.size() >= from + kWordsPerSlot) return slot.put_line(words.data() + from);
    std::uint32_t at = 0;
    while (from < words.size()) slot.put(at++, words[from++]);
    const std::span<const std::byte> rest = data.subspan(8 * (from - words.size()));
    const std::size_t room = 8 * std::size_t{kWordsPerSlot - at};
    put_bytes(slot.words + at, rest.data(), rest.size() < room ? rest.size() : room);
  }
};

}  // namespace

bool Channel::try_send_lines(std::uint64_t head, std::span<const std::uint64_t> words,
                             std::span<const std::byte> data, bool awaited) noexcept {
  const std::size_t bytes = words.size_bytes() + data.size();
  const std::uint64_t seq = tx_seq_;
  if (tx_limit_ - seq < kMaxLines) [[unlikely]] {
    const std::uint32_t slots = 1U + (bytes > kInlineBytes) + (bytes > 2 * kInlineBytes);
    if (tx_limit_ - seq < slots && !refresh_room(slots)) return false;
  }
  Slot* const ring = tx_slots_;
  const std::uint64_t mask = tx_mask_;
  const Message message{words, data};
  const auto put_more = [&](std::uint64_t i) {
    Slot& slot = ring[(seq + i) & mask];
    message.put(slot, i);
    slot.header.store(header::make(MessageKind::continuation, 0, 0) | phase(seq + i, mask),
                      kRelease);
    if (awaited) demote_line(&slot);
  };
  // The first slot comes last, at once with its header. The receiver looks at that header all the
  // time: where words of the slot are written earlier, the line is with the receiver again when the
  // header's turn comes, and has to be fetched a second time.
  std::uint64_t more = 0;
  if (bytes > kInlineBytes) {
    more = 1;
    if (bytes > 2 * kInlineBytes) {
      more = 2;
      put_more(2);
    }
    put_more(1);
  }
  Slot& first = ring[seq & mask];
  message.put(first, 0);
  first.header.store(head | more << header::lines_shift | phase(seq, mask), kRelease);
  tx_seq_ = seq + 1 + more;
  ring_if_wanted();
  return true;
}

void Channel::ring_doorbell() noexcept {
  if (remote_ != nullptr) return remote_->post_lines(*this);
  if (!options_.remote) ring_peer();  // else it has ended
}

void ChannelEnd::wake_peer() noexcept {
  if (!options_.remote) return nic().wake(peer_);
  if (remote_ != nullptr) remote_->post_counters(*this);
}

// Nonsense: bytes that no peer with this code writes.

void ChannelEnd::break_off(const char* what) noexcept {
  if (rx_ == nullptr || rx_ == &nowhere.head) return;
  const bool connected = state_ == ViState::connected;
  ++nic().broken_off_;
  nic_.job().log().write(LogLevel::error,
                         "the connection with rank " + std::to_string(index(peer_)) +
                             " ends, since that rank has written " + what +
                             ": is something writing into its memory, or into this rank's?");
  if (connected) {
    state_ = ViState::error;
    tx_limit_ = tx_seq_;
    nic().connections_.stop(end_, ErrorCause::format);
    end_link();
  }
  leave_ring();
  if (connected) nic().report(*this, ErrorCause::format);
}

/// From here on the client sees a peer that writes nothing.
void ChannelEnd::leave_ring() noexcept {
  rx_ = &nowhere.head;
  rx_slots_ = &nowhere.slot;
  rx_mask_ = 0;
  rx_seq_ = rx_released_ = 0;
}

void ChannelEnd::refuse_room() noexcept { break_off("a count of free slots that cannot be"); }

/// Whether @p h, the header of a slot that is not full, is zero or left from an earlier lap.
bool ChannelEnd::may_be_old(std::uint64_t h) const noexcept {
  if (rx_seq_ <= rx_mask_) return h == 0;
  const std::uint64_t rest = h & ~header::phase_bit;
  if (header::kind(h) == MessageKind::continuation)
    return rest == header::make(MessageKind::continuation, 0, 0);
  return header::is_plain(h) && header::extra_lines(h) < kMaxLines &&
         header::length(h) <= (1 + header::extra_lines(h)) * kInlineBytes &&
         header::client(h) >> options_.client_bits == 0;
}

/// A peer writes each slot as a whole, and slots in their order, except within a message: a message
/// has at most kMaxLines slots, and its first slot is written last. Slots of a transport are
/// announced one by one, and need no check.
void ChannelEnd::look_for_nonsense() noexcept {
  if (options_.remote || state_ != ViState::connected) return;
  const bool others_there = arrived_ahead(kMaxLines) != nullptr;  // before the next one is read
  const std::uint64_t h = next_slot().header.load(kAcquire);
  if (is_full(h)) return;  // the call that takes the slot checks it
  if (others_there) return break_off("messages behind a slot that is empty");
  if (!may_be_old(h)) break_off("bytes that are no message into a slot");
}

// The end.

void ChannelEnd::release_taken() noexcept {
  if (rx_released_ != rx_seq_) release_slots();
}

void ChannelEnd::ended_by_peer(ErrorCause cause) noexcept {
  if (cause == ErrorCause::format && state_ == ViState::connected)
    nic_.job().log().write(LogLevel::error, "rank " + std::to_string(index(peer_)) +
                                                " has ended its connection with this rank, since "
                                                "what this rank had written made no sense there");
  peer_closed(cause);
}

/// The client drains what has come, then disconnects.
void ChannelEnd::peer_closed(ErrorCause cause) noexcept {
  if (state_ != ViState::connected) return;
  state_ = ViState::error;
  if (!options_.remote && !nic().connections_.connector().may_read(end_)) {
    // The peer has taken its request back: it has sent nothing, and its ring may be gone.
    leave_ring();
    peer_extra_ = no_extra.data();
  }
  tx_limit_ = tx_seq_;
  end_link();
  nic().report(*this, cause);
}

void ChannelEnd::disconnect() noexcept {
  if (state_ == ViState::idle) return;
  if (state_ == ViState::connecting) outcome_.answer = ConnectResult::timed_out;
  if (rx_ != nullptr) release_slots();  // exactly those that have been taken
  const bool connected = state_ == ViState::connected;
  // First, so that an error among the messages that have come is no error of the connection.
  state_ = ViState::idle;
  if (remote_ != nullptr && connected) remote_->drain(*this);
  tx_limit_ = tx_seq_;
  if (in_set_.hot_at >= 0) group().set_aside(*this);
  rx_ = nullptr;
  rx_slots_ = nullptr;
  drop_ring(ErrorCause::disconnected);
  rx_seq_ = 0;
}

}  // namespace viaduct::via::channel
