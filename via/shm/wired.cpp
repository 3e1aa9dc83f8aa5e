/// Wired VIs: those to ranks that share no memory with this one (docs/verbs.md).
///
/// The layer above writes into the ring and reads from one as ever. Two words that it looks at
/// anyway make the difference: the channel's `wanted` is always set, so that every message comes to
/// ring_bell(), and the peer always sleeps, so that every change of the counters comes to
/// wake_peer(). A carrier then takes the lines to the peer's copy of the channel, and the counters
/// to the peer's channel.
///
/// A line travels with its phase bit inverted: it is seen when the carrier has told of it, and its
/// receiver has turned the bit.

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "runtime/atomic.hpp"
#include "runtime/clock.hpp"
#include "runtime/error.hpp"
#include "via/shm/nic.hpp"
#include "via/shm/vi.hpp"
#include "via/shm/wired.hpp"

namespace viaduct::via::shm {

namespace {

/// Upper bits of a note.
enum class Sign : std::uint32_t {
  lines,    // with the number of the first, modulo 2^28
  wake_me,  // the writer is going to sleep and waits for our counters
  wake,     // they are there
};
constexpr unsigned kSignShift = 28;
constexpr std::uint32_t kNumberMask = (1U << kSignShift) - 1;
constexpr std::uint32_t note_of(Sign sign, std::uint64_t number = 0) noexcept {
  return static_cast<std::uint32_t>(sign) << kSignShift |
         (static_cast<std::uint32_t>(number) & kNumberMask);
}

// The word that a wired VI reads in place of its peer's `sleeping`.
constinit const AtomicWord<std::uint32_t> kAlwaysAsleep{1};

// For what was sent before a disconnect to arrive: longer than all repetitions take.
constexpr std::uint64_t kDrainLimitNs = 5'000'000'000;

void turn_phase(Slot& slot) noexcept {
  slot.header.store(slot.header.load(kRelaxed) ^ header::phase_bit, kRelease);
}

}  // namespace

// Set-up.

void Nic::carry(std::unique_ptr<Carrier> carrier, const std::function<bool(Rank)>& remote) {
  carrier_ = std::move(carrier);
  remote_.resize(job_.size());
  for (std::uint32_t r = 0; r < job_.size(); ++r) remote_[r] = remote(Rank{r});
}

void Vi::make_wire(std::size_t half_bytes) {
  wired_ = std::make_unique<Wired>();
  wired_->half_bytes = half_bytes;
  wired_->wire =
      nic_.carrier_->make_wire(reinterpret_cast<std::byte*>(tx_), half_bytes, options_.notes, this);
  if (std::find(nic_.wired_vis_.begin(), nic_.wired_vis_.end(), this) == nic_.wired_vis_.end())
    nic_.wired_vis_.push_back(this);
}

RemotePart Vi::make_part() const noexcept {
  RemotePart part;
  part.wire = wired_->wire->name();
  const std::byte* extra = reinterpret_cast<const std::byte*>(tx_) +
                           ChannelHead::bytes_for(tx_slot_count_, options_.inline_only);
  std::memcpy(part.extra, extra, std::min(sizeof part.extra, options_.extra_bytes));
  return part;
}

/// attach_peer() of a wired VI.
void Vi::attach_wire(const Letter& letter, const RemotePart& part) {
  Wired& w = *wired_;
  peer_window_ = nullptr;
  peer_sleeping_ = &kAlwaysAsleep;
  peer_vi_ = letter.source_vi;
  peer_tag_ = static_cast<ProtectionTag>(letter.tag);
  rx_ = reinterpret_cast<ChannelHead*>(reinterpret_cast<std::byte*>(tx_) + w.half_bytes);
  rx_slot_count_ = tx_slot_count_;
  rx_mask_ = rx_slot_count_ - 1;
  rx_slots_ = rx_->slots();
  peer_extra_ = reinterpret_cast<std::byte*>(rx_) + ChannelHead::bytes_for(rx_slot_count_, true);
  std::memcpy(peer_extra_, part.extra, std::min(sizeof part.extra, options_.extra_bytes));
  rx_->receiver.posted.store(rx_slot_count_);
  rx_seq_ = rx_released_ = 0;
  try {
    w.wire->connect(peer_, part.wire);
  } catch (const std::exception& e) {
    nic_.job_.log().write(LogLevel::error, e.what());
    nic_.part_with(peer_, letter.source_vi);
    cause_ = ErrorCause::connection_lost;
    return answer(ConnectResult::unreachable, 0);
  }
  w.connected = true;
  if (!w.pieces.empty()) nic_.hold_back(*this);  // they changed since the letter
  asked_ = MailKind::none;
  answer_ = ConnectResult::connected;
  cause_ = ErrorCause::none;
  final_sent_ = final_received_ = false;
  state_ = ViState::connected;
  nic_.count(kConnections);
}

// Sending.

void Vi::add_piece(const std::byte* from, std::size_t bytes) noexcept {
  if (wired_ == nullptr || bytes == 0) return;
  const auto offset = static_cast<std::uint32_t>(from - reinterpret_cast<const std::byte*>(tx_));
  wired_->pieces.push_back({tx_seq_, {offset, static_cast<std::uint32_t>(bytes)}});
}

void Vi::send_back(const std::byte* from, std::size_t bytes) noexcept {
  if (wired_ == nullptr) return;
  const auto offset = static_cast<std::uint32_t>(from - reinterpret_cast<const std::byte*>(rx_));
  wired_->back.push_back({offset, static_cast<std::uint32_t>(bytes)});
  post_counters();
}

/// The oldest message that has not been posted, behind the pieces that belong before it. False: no
/// room.
bool Vi::post_message() noexcept {
  Wired& w = *wired_;
  const auto offset_of = [this](const void* at) {
    return static_cast<std::uint32_t>(static_cast<const std::byte*>(at) -
                                      reinterpret_cast<const std::byte*>(tx_));
  };
  // More pieces than fit one post go before it.
  while (w.pieces.size() > 1 && w.pieces[1].before <= w.lines_posted) {
    if (!w.wire->post(std::span(&w.pieces.front().piece, 1), 0, false)) return false;
    w.pieces.pop_front();
  }
  std::array<Wire::Piece, Wire::kMaxPieces> pieces;
  std::size_t count = 0;
  const bool with_piece = !w.pieces.empty() && w.pieces.front().before <= w.lines_posted;
  if (with_piece) pieces[count++] = w.pieces.front().piece;
  Slot* const slot = &tx_slots_[w.lines_posted & tx_mask_];
  const std::uint32_t lines = 1 + header::extra_lines(slot->header.load(kRelaxed));
  const auto to_end = static_cast<std::uint32_t>(tx_slot_count_ - (w.lines_posted & tx_mask_));
  constexpr auto kLine = static_cast<std::uint32_t>(sizeof(Slot));
  pieces[count++] = {offset_of(slot), std::min(lines, to_end) * kLine};
  if (lines > to_end) pieces[count++] = {offset_of(tx_slots_), (lines - to_end) * kLine};
  if (!w.wire->post(std::span(pieces).first(count), note_of(Sign::lines, w.lines_posted), true))
    return false;
  if (with_piece) w.pieces.pop_front();
  w.lines_posted += lines;
  w.published_unseen = false;
  return true;
}

/// Lines that have just been written, and those that found no room before.
void Vi::post_lines() noexcept {
  if (wired_ == nullptr) return;  // it has ended
  Wired& w = *wired_;
  // One line, and nothing before it.
  static_assert(sizeof(Slot) == Wire::kLineBytes);
  const std::uint64_t line = w.lines_posted;
  if (line + 1 != tx_seq_ || w.counters_changed || !w.pieces.empty()) [[unlikely]]
    return post_lines_slow();
  Slot* const slot = &tx_slots_[line & tx_mask_];
  turn_phase(*slot);
  const auto offset = static_cast<std::uint32_t>(reinterpret_cast<std::byte*>(slot) -
                                                 reinterpret_cast<std::byte*>(tx_));
  if (!w.wire->post_line(offset, note_of(Sign::lines, line))) [[unlikely]]
    return nic_.hold_back(*this);
  w.lines_posted = line + 1;
  w.published_unseen = false;
}

void Vi::post_lines_slow() noexcept {
  Wired& w = *wired_;
  if (w.counters_changed) post_counters();
  // Only the new ones: those that were held back have been turned.
  std::uint64_t from = tx_seq_ - 1;
  while (header::kind(tx_slots_[from & tx_mask_].header.load(kRelaxed)) ==
         MessageKind::continuation)
    --from;
  for (; from != tx_seq_; ++from) turn_phase(tx_slots_[from & tx_mask_]);
  while (w.lines_posted != tx_seq_)
    if (w.counters_changed || !w.back.empty() || !post_message()) return nic_.hold_back(*this);
}

void Vi::post_counters() noexcept {
  if (wired_ == nullptr || !wired_->connected) return;
  Wired& w = *wired_;
  constexpr Wire::Piece kCounters{offsetof(ReceiverLine, carried), sizeof(ReceiverLine::carried)};
  ReceiverLine& line = rx_->receiver;
  const auto seal = [&line](std::size_t at, const AtomicWord<std::uint64_t>& counter) {
    line.carried[at].store(carried_counter::seal(counter.load(kRelaxed)), kRelaxed);
  };
  seal(0, line.posted);
  seal(1, line.client_counter[0]);
  seal(2, line.client_counter[1]);
  w.counters_changed = true;
  while (!w.back.empty()) {
    if (!w.wire->post_back(w.back.front(), 0, false)) return nic_.hold_back(*this);
    w.back.erase(w.back.begin());
  }
  if (!w.wire->post_back(kCounters, note_of(Sign::wake), w.wake_wanted))
    return nic_.hold_back(*this);
  w.published_unseen = !w.wake_wanted;
  w.counters_changed = w.wake_wanted = false;
}

/// Takes in the counters that the peer's post_counters() has written.
void Vi::take_counters() const noexcept {
  ReceiverLine& line = tx_->receiver;
  const auto take = [&line](std::size_t at, AtomicWord<std::uint64_t>& counter) {
    counter.store(carried_counter::take(line.carried[at].load(kAcquire), counter.load(kRelaxed)),
                  kRelaxed);
  };
  take(0, line.posted);
  take(1, line.client_counter[0]);
  take(2, line.client_counter[1]);
}

void Nic::hold_back(Vi& vi) noexcept {
  if (vi.wired_->held_back) return;
  vi.wired_->held_back = true;
  held_back_.push_back(&vi);
}

/// Posts what was held back.
void Vi::carry_on() noexcept {
  Wired& w = *wired_;
  if (!w.connected) return;
  if (w.counters_changed) post_counters();
  while (w.lines_posted != tx_seq_)
    if (w.counters_changed || !w.back.empty() || !post_message()) return nic_.hold_back(*this);
  while (!w.pieces.empty()) {
    if (!w.wire->post(std::span(&w.pieces.front().piece, 1), 0, false))
      return nic_.hold_back(*this);
    w.pieces.pop_front();
  }
}

/// Before this rank sleeps: whoever has had something of ours is to tell when its counters change,
/// which may be credits of the layer above, though all slots are free. False: no room to ask.
bool Vi::ask_to_be_woken() noexcept {
  Wired& w = *wired_;
  if (!w.connected || w.wake_asked || w.wire->failed()) return true;
  if (tx_seq_ == 0) return true;  // it holds nothing of ours
  w.wake_asked = w.wire->post_back({0, 0}, note_of(Sign::wake_me), true);
  return w.wake_asked;
}

bool Vi::flush_extra() noexcept {
  const auto is_open = [this] {
    return wired_ != nullptr && (state_ == ViState::connected || state_ == ViState::connecting);
  };
  const std::uint64_t start = monotonic_ns();
  const auto waits = [&] {
    nic_.progress();
    nic_.poll_carrier();
    if (!is_open() || wired_->wire->failed() || monotonic_ns() - start > kDrainLimitNs)
      return false;
    sched_yield();
    return true;
  };
  const auto flushed = [this] {
    Wired& w = *wired_;
    if (state_ == ViState::connecting) return false;  // what its letter says is old by now
    while (!w.pieces.empty()) {
      if (w.lines_posted != tx_seq_ ||
          !w.wire->post(std::span(&w.pieces.front().piece, 1), 0, false))
        return false;
      w.pieces.pop_front();
    }
    return w.wire->drained();
  };
  if (!is_open()) return true;
  while (!flushed()) {
    if (waits()) continue;
    if (is_open() && wired_->connected) nic_.hold_back(*this);  // to be posted all the same
    return false;
  }
  return !wired_->wire->failed();
}

bool Vi::takes_copies() const noexcept {
  return wired_ == nullptr || !wired_->connected || wired_->wire->failed() || wired_->wire->ready();
}

bool Vi::write_remote(const std::byte* from, std::size_t bytes, std::uint64_t to,
                      std::uint32_t key) noexcept {
  return wired_ != nullptr && wired_->connected && wired_->wire->write(from, bytes, to, key);
}

bool Vi::read_remote(std::byte* to, std::size_t bytes, std::uint64_t from,
                     std::uint32_t key) noexcept {
  return wired_ != nullptr && wired_->connected && wired_->wire->read(to, bytes, from, key);
}

Wire* Vi::wire() const noexcept {
  const bool open = wired_ != nullptr && wired_->connected && !wired_->wire->failed();
  return open ? wired_->wire.get() : nullptr;
}

// Receiving.

void Vi::take_note(std::uint32_t note) noexcept {
  if (wired_ == nullptr || rx_slots_ == nullptr) return;
  Wired& w = *wired_;
  switch (static_cast<Sign>(note >> kSignShift)) {
    case Sign::lines:
      return take_lines(note & kNumberMask);
    case Sign::wake_me:
      w.wake_wanted = true;
      if (rx_released_ != rx_seq_)
        release_slots();
      else if (w.published_unseen || w.counters_changed)
        post_counters();
      return;
    case Sign::wake:
      w.wake_asked = false;
      return;
  }
}

void Vi::take_lines(std::uint32_t number) noexcept {
  Wired& w = *wired_;
  Slot& first = rx_slots_[w.lines_arrived & rx_mask_];
  const std::uint32_t lines = 1 + header::extra_lines(first.header.load(kRelaxed));
  if (number != (static_cast<std::uint32_t>(w.lines_arrived) & kNumberMask) || lines > kMaxLines) {
    nic_.job_.log().write(LogLevel::error, "rank " + std::to_string(index(peer_)) +
                                               " has sent a line out of turn: the connection ends");
    return wire_failed(ErrorCause::format);
  }
  for (std::uint32_t i = lines; i-- > 0;) turn_phase(rx_slots_[(w.lines_arrived + i) & rx_mask_]);
  w.lines_arrived += lines;
  if (hot_at_ < 0) receive_cq_->ready_.push_back(this);
}

/// Nothing gets through to the peer any more, whose own half may be well: it is told by letter.
void Vi::wire_failed(ErrorCause cause) noexcept {
  if (state_ == ViState::connected) {
    cause_ = cause;
    send_final(MailKind::error);
  }
  peer_closed(cause);
}

// The NIC's part.

void Nic::poll_carrier() noexcept {
  std::array<WireEvent, 32> events;
  const std::size_t n = carrier_->poll(events);
  carried_ += n;
  for (std::size_t i = 0; i < n; ++i) {
    Vi* const vi = static_cast<Vi*>(events[i].owner);
    if (events[i].failure == ErrorCause::none) {
      vi->take_note(events[i].note);
      continue;
    }
    progress();  // its peer may have ended the connection in good order, and said so
    if (std::find(wired_vis_.begin(), wired_vis_.end(), vi) != wired_vis_.end())
      vi->wire_failed(events[i].failure);
  }
  if (held_back_.empty()) return;
  const auto held = std::move(held_back_);
  held_back_.clear();
  for (Vi* vi : held) {
    vi->wired_->held_back = false;
    vi->carry_on();
  }
}

/// All that has come by now. It has an end: no handler runs meanwhile, so nobody gets credits.
void Nic::drain_carrier() noexcept {
  std::uint64_t before = 0;
  do {
    before = carried_;
    poll_carrier();
  } while (carried_ != before);
}

/// Tells the VI @p vi of a peer, which may be connected by now, that nothing gets through to it.
void Nic::part_with(Rank peer, std::uint32_t vi) {
  Letter letter;
  letter.kind = MailKind::error;
  letter.target_vi = vi;
  letter.client_data = static_cast<std::uint64_t>(ErrorCause::connection_lost);
  post_mail(peer, letter);
}

void Nic::reject_unreachable(Rank from, std::uint64_t discriminator, std::uint64_t reason) {
  Unmatched* const found = unmatched_.of_peer(from, discriminator);
  if (found == nullptr) return;
  const Letter request = unmatched_.take(found).letter;
  refuse(from, request, ConnectResult::rejected, reason);
  part_with(from, request.source_vi);
}

bool Nic::carrier_busy() const noexcept {
  return carrier_ != nullptr && (!carrier_->all_delivered() || !held_back_.empty());
}

/// Whether a wired VI waits for its peer.
bool Nic::connects() const noexcept {
  return std::any_of(wired_vis_.begin(), wired_vis_.end(),
                     [](const Vi* vi) { return vi->state_ == ViState::connecting; });
}

/// A peer that has had our letters and has not answered may be out of reach by now: another letter
/// shows it.
void Nic::nudge() {
  for (const Vi* vi : wired_vis_)
    if (vi->state_ == ViState::connecting) carrier_->nudge(vi->peer_);
}

void Nic::take_letters() {
  constexpr std::uint64_t kNudgeEvery = 64;
  if (++looks_ % kNudgeEvery == 0) nudge();
  carrier_->progress([this](Rank from, std::span<const std::byte> bytes) {
    ++carried_;
    Letter letter;
    RemotePart part;
    if (bytes.size() != sizeof letter && bytes.size() != sizeof letter + sizeof part) return;
    std::memcpy(static_cast<void*>(&letter), bytes.data(), sizeof letter);
    const bool with_part = bytes.size() > sizeof letter;
    if (with_part) std::memcpy(&part, bytes.data() + sizeof letter, sizeof part);
    handle(from, letter, with_part ? &part : nullptr);
  });
  if (!carrier_->all_delivered()) look_for_closed_peers();
}

/// Peers that wait for the others in their Job's destructor have ended their NIC: they read no more
/// letters. Those that letters have not reached for long, while nothing can go there from here,
/// are out of reach.
void Nic::look_for_closed_peers() {
  constexpr std::uint64_t kEveryNs = 50'000'000;
  constexpr std::uint64_t kSilenceNs = 100'000'000;
  constexpr std::uint64_t kDownNs = 2'000'000'000;
  const std::uint64_t now = monotonic_ns();
  if (now - looked_for_closed_ns_ < kEveryNs) return;
  looked_for_closed_ns_ = now;
  for (const Rank silent : carrier_->silent_for(kSilenceNs)) {
    const RankRecord& record = job_.record(silent);
    if (record.finalizing.load() != 0 || record.state.load() == RankState::finalized)
      part_from([silent](Rank rank) { return rank == silent; }, ErrorCause::disconnected);
  }
  const std::vector<Rank> cut = carrier_->out_of_reach(kDownNs);
  if (cut.empty()) return;
  part_from([&](Rank rank) { return std::find(cut.begin(), cut.end(), rank) != cut.end(); },
            ErrorCause::connection_lost);
}

/// Before this rank sleeps: an event of the carrier's rings its doorbell, and peers whose counters
/// it may wait for tell of them. Answers whether it should not sleep: something has happened
/// meanwhile, or a peer could not be asked.
bool Nic::arm_carrier() noexcept {
  const std::uint64_t before = carried_;
  bool all_asked = true;
  for (Vi* vi : wired_vis_)
    if (vi->wired_ != nullptr && !vi->ask_to_be_woken()) all_asked = false;
  carrier_->arm();
  poll_carrier();
  progress();
  return carried_ != before || !all_asked;
}

// The end.

/// Waits until all that was sent has arrived, or the peer has ended the connection, too.
void Vi::drain_wire() noexcept {
  if (wired_ == nullptr || !wired_->connected) return;
  const std::uint64_t start = monotonic_ns();
  while (!final_received_ && !nic_.job_.is_lost(peer_) && !wired_->wire->failed() &&
         monotonic_ns() - start < kDrainLimitNs) {
    carry_on();
    if (wired_->lines_posted == tx_seq_ && !wired_->counters_changed && wired_->wire->drained())
      return;
    if (tx_seq_ == 0 && !wired_->wire->ready()) return;  // nothing was sent, and nothing can be
    if (nic_.in_progress_ == std::this_thread::get_id()) return;
    nic_.progress();
    sched_yield();
  }
}

/// No write of the peer's, and none to it, from here on.
void Vi::part_wire() noexcept {
  if (wired_ == nullptr) return;
  std::erase(nic_.held_back_, this);
  std::erase(receive_cq_->ready_, this);
  wired_.reset();
}

}  // namespace viaduct::via::shm
