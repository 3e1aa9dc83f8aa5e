#include "via/generations/src/v2.hpp"

#include <bit>
#include <cstddef>
#include <system_error>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/slot.hpp"

namespace viaduct::via::generations {

namespace {

constexpr std::uint32_t units_of(std::uint32_t bytes) noexcept {
  return (bytes + RingSpace::kUnitBytes - 1) / RingSpace::kUnitBytes;
}

// Immediate value of a message: its place in units, then its length in bytes.
constexpr unsigned kPlaceShift = 16;
constexpr std::uint32_t kLengthMask = (1U << kPlaceShift) - 1;

}  // namespace

V2::V2(const Common& common, const Room& room, void* owner)
    : place_{owner, 0},
      space_(units(room), messages(room)),
      arena_(common.arenas.make(bytes(room))),
      descriptors_(std::make_unique<Descriptor[]>(2 * messages(room) + kReturns)) {
  ViAttributes attributes;
  attributes.tag = common.tag;
  attributes.send_depth = depths(room).sends;
  attributes.receive_depth = depths(room).receives;
  attributes.send_queue = &common.send_queue;
  attributes.receive_queue = &common.receive_queue;
  attributes.context = &place_;
  words().returned.store(checked_counter::word_of(0), kRelaxed);
  vi_ = common.nic.create_vi(attributes);
  for (std::uint32_t i = messages(room) + kReturns; i < 2 * messages(room) + kReturns; ++i) {
    make_list(descriptors_[i], nullptr, 0);
    if (!post_receive(*vi_, descriptors_[i]))
      throw Error(errors::bad_attributes, std::errc::no_buffer_space,
                  "a VI of a MAP takes no receives: its provider answers that its queue is full");
  }
}

RingName V2::ring() const noexcept {
  return {reinterpret_cast<std::uint64_t>(arena_.memory()),
          static_cast<std::uint32_t>(arena_.handle())};
}

Status V2::start(Rank peer, std::uint64_t name, const RingName& theirs) {
  theirs_ = theirs;
  return vi_->connect_peer_start(peer, name);
}

/// Reads the peer's count of the messages that it has taken. False: the count is impossible.
bool V2::learn_return() noexcept {
  const std::uint64_t word = words().returned.load(kAcquire);
  const std::uint64_t before = space_.returned();
  return space_.give(static_cast<std::uint32_t>(checked_counter::take(word, before)));
}

bool V2::send(const Outgoing& out) noexcept {
  const auto head_bytes =
      static_cast<std::uint32_t>(sizeof(Head) + out.pieces.size() * sizeof(Link::Piece));
  const std::uint32_t units = units_of(head_bytes + out.bytes);
  if (written_ - completed_ == space_.messages()) return false;
  std::optional<std::uint32_t> place = space_.place(units);
  if (!place) {
    if (!learn_return()) nonsense_ = true;
    place = space_.place(units);
    if (!place) return false;
  }
  const std::size_t at = std::size_t{*place} * RingSpace::kUnitBytes;
  Head head{};
  head.taken[0] = static_cast<std::uint16_t>(taken_);
  const std::uint32_t bytes = write_message(ring_out() + at, head, out);
  Descriptor& write = write_at(written_);
  make_rdma_write(write, ring_out() + at, bytes, arena_.handle(),
                  theirs_.address + sizeof(Words) + at, static_cast<MemoryHandle>(theirs_.handle));
  add_immediate(write, *place << kPlaceShift | bytes);
  if (vi_->post_send(write) != Status::ok) return false;
  ++written_;
  space_.use(units);
  told_ = taken_;
  owed_units_ = 0;
  return true;
}

void V2::sent(const Completion& done) noexcept {
  const auto i = static_cast<std::uint32_t>(done.descriptor - descriptors_.get());
  if (i < space_.messages())
    ++completed_;
  else
    returns_ &= ~(1U << (i - space_.messages()));
}

bool V2::received(const Completion& done, Receiver& receiver) noexcept {
  const Descriptor& descriptor = *done.descriptor;
  if (!descriptor.has_immediate() || nonsense_) return false;
  const auto said = static_cast<std::uint32_t>(descriptor.immediate());
  const std::uint32_t bytes = said & kLengthMask;
  const std::size_t at = std::size_t{said >> kPlaceShift} * RingSpace::kUnitBytes;
  if (at > ring_bytes() || bytes > ring_bytes() - at) return false;
  Incoming in;
  if (!read_message({ring_in() + at, bytes}, receiver.half_bytes(), in)) return false;
  const std::uint32_t known = space_.returned();
  const auto more =
      static_cast<std::uint16_t>(in.head.taken[0] - static_cast<std::uint16_t>(known));
  // A separate write may have told more than this message, which was filled before.
  if (more < (1U << 15) && !space_.give(known + more)) return false;
  if (!receiver.apply(in)) return false;
  ++taken_;
  owed_units_ += units_of(bytes);
  make_list(*done.descriptor, nullptr, 0);
  return post_receive(*vi_, *done.descriptor);
}

/// Writes the count to the peer, where that is due. No receive of the peer's is taken for it.
bool V2::give_credits() noexcept {
  // The receiver keeps at most a quarter of the ring, or of the messages, to itself.
  if (4 * owed_units_ < space_.units() && 4 * (taken_ - told_) < space_.messages()) return true;
  const auto free = static_cast<std::uint32_t>(std::countr_one(returns_));
  if (free >= kReturns) return false;
  std::uint64_t& word = words().returns[free];
  word = checked_counter::word_of(taken_);
  Descriptor& write = descriptors_[space_.messages() + free];
  make_rdma_write(write, reinterpret_cast<std::byte*>(&word), sizeof word, arena_.handle(),
                  theirs_.address + offsetof(Words, returned),
                  static_cast<MemoryHandle>(theirs_.handle));
  if (vi_->post_send(write) != Status::ok) return false;
  returns_ |= 1U << free;
  told_ = taken_;
  owed_units_ = 0;
  return true;
}

}  // namespace viaduct::via::generations
