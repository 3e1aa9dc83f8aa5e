#pragma once
/// @file
/// Something that looks like an endpoint to its peer, and is none: a rank's connection to rank 0's
/// endpoint 0, over which it writes what it likes.

#include <cstdint>
#include <memory>
#include <new>
#include <random>

#include "via/channel/nic.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/detail/map.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/segment.hpp"

namespace fault {

namespace am = viaduct::am;
namespace shm = viaduct::via::shm;
namespace via = viaduct::via;
using viaduct::Status;
using Random = std::mt19937_64;

struct Ignore {
  void operator()(via::channel::Channel&, via::Slot&, std::uint64_t) noexcept {}
};

/// Something that looks like an endpoint to its peer, and is none.
class Attacker {
 public:
  /// @p number: of the endpoint that it claims to be, in its rank.
  Attacker(am::Context& context, Random& random, std::uint16_t number)
      : nic_(context.nic()), random_(random), number_(number) {
    const am::Settings& settings = context.settings();
    via::channel::Options options;
    options.slots = lines_ = static_cast<std::uint32_t>(settings.slots);
    options.release_every = options.slots / 8;
    options.extra_bytes =
        sizeof(am::detail::MapBlock) + static_cast<std::size_t>(settings.medium_bytes);
    vi_ = nic_.create_channel(group_, nullptr, options);
    auto* block = new (vi_->prepare_extra()) am::detail::MapBlock{};
    block->magic = am::detail::MapBlock::kMagic;
    block->slots = options.slots;
    block->credits = static_cast<std::uint32_t>(settings.credits);
    block->medium_bytes = static_cast<std::uint32_t>(settings.medium_bytes);
    block->tag.store(am::kTagAll);
    page_ = new (nic_.allocate(sizeof(am::detail::EndpointPage))) am::detail::EndpointPage{};
    block->endpoint_page = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(page_) -
                                                      nic_.job().segment().base());
  }
  ~Attacker() { vi_.reset(); }
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  bool connect() { return ask() && is_connected(); }
  /// Before the victim asks in turn, or its request would be told that there is no such endpoint.
  bool ask() { return vi_->connect_peer_start(viaduct::Rank{0}, discriminator()) == Status::ok; }
  bool is_connected() {
    constexpr std::uint64_t kLimitNs = 60'000'000'000;
    const std::uint64_t start = viaduct::monotonic_ns();
    while (vi_->state() == via::ViState::connecting && viaduct::monotonic_ns() - start < kLimitNs)
      nic_.progress();
    return vi_->state() == via::ViState::connected;
  }

  [[nodiscard]] std::uint64_t discriminator() const {
    return std::uint64_t{0x414d} << 48 | number_;  // the victim's endpoint is number 0
  }
  [[nodiscard]] via::channel::Channel& vi() { return *vi_; }
  /// The victim has ended the connection, and has said so.
  [[nodiscard]] bool is_ended() {
    nic_.progress();
    return vi_->state() == viaduct::via::ViState::error;
  }
  void wake_victim() { viaduct::ring_doorbell(nic_.job().record(viaduct::Rank{0})); }
  /// What the victim sends on, of which its receiver writes the first line.
  [[nodiscard]] via::ChannelHead& victims_channel() {
    return *reinterpret_cast<via::ChannelHead*>(vi_->peer_extra() -
                                                via::ChannelHead::bytes_for(lines_));
  }
  [[nodiscard]] via::Slot& line(std::uint64_t i) {
    return const_cast<via::Slot&>(vi_->sent_slot(i));
  }
  [[nodiscard]] am::detail::MapBlock& block() {
    return *reinterpret_cast<am::detail::MapBlock*>(vi_->prepare_extra());
  }
  [[nodiscard]] am::detail::EndpointPage& page() { return *page_; }

  /// What the victim would take for the size of a ring, and for the place of a page.
  void spoil_block() {
    if (random_() % 2 == 0)
      block().medium_bytes = static_cast<std::uint32_t>(random_()) | 1;
    else
      block().endpoint_page = random_() | 1;
  }

  /// Takes what comes back, or the victim would wait for room.
  void drain() {
    Ignore ignore;
    (void)group_.drain(32, ignore);
    nic_.progress();
  }

  /// False: the victim has ended the connection.
  bool send_line() {
    via::Slot* slot = vi_->claim();
    while (slot == nullptr) {
      if (is_ended()) return false;
      drain();
      slot = vi_->claim();
    }
    for (std::uint64_t& word : slot->words) word = random_word();
    vi_->publish(*slot,
                 (random_() % 2 == 0 ? random_() : nearly_right()) & ~via::header::phase_bit);
    if (random_() % 64 == 0) vi_->publish_counter(static_cast<unsigned>(random_() % 2), random_());
    if (random_() % 16 == 0) drain();
    return true;
  }

  /// A reply that lies in an overflow block and names no handler: refused, and the block is free
  /// again.
  bool refused_overflow_is_returned() {
    namespace wire_format = am::detail::wire_format;
    constexpr std::size_t kLongest = 1 << 16;
    auto* block = new (nic_.allocate(sizeof(am::detail::OverflowBlock) + kLongest))
        am::detail::OverflowBlock{};
    block->use.store(1);
    block->length = 8;
    via::Slot* slot = vi_->claim();
    if (slot == nullptr) return false;
    slot->words[0] = static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(block) -
                                                nic_.job().segment().base());
    constexpr std::uint16_t kNowhere = 9;
    vi_->publish(*slot, via::header::make(via::MessageKind::inline_data, 8,
                                          wire_format::make(am::detail::Kind::reply,
                                                            am::Operation::medium, kNowhere) |
                                              wire_format::overflow_bit));
    const std::uint64_t start = viaduct::monotonic_ns();
    while (!block->is_free() && viaduct::monotonic_ns() - start < 60'000'000'000) drain();
    return block->is_free();
  }

  /// A request with a payload for the typed handler @p number and with arguments that the handler
  /// does not take: comes back with bad_arguments and those arguments.
  bool wrong_arguments_are_returned(std::uint16_t number) {
    namespace wire_format = am::detail::wire_format;
    via::Slot* const slot = vi_->claim();
    if (slot == nullptr) return false;
    constexpr std::uint64_t kArgument = 0x1234;
    slot->words[0] = std::uint64_t{8} << 32;  // at the start of the medium ring
    slot->words[1] = kArgument;
    const std::uint64_t client =
        wire_format::make(am::detail::Kind::request, am::Operation::medium, number);
    vi_->publish(*slot, via::header::make(via::MessageKind::inline_data, 16, client));
    bool is_right = false;
    const auto look = [&](via::channel::Channel&, via::Slot& arrived, std::uint64_t head) {
      const std::uint64_t back = via::header::client(head);
      if (wire_format::kind(back) != am::detail::Kind::returned_request) return;
      is_right = wire_format::status(back) == am::Undeliverable::bad_arguments &&
                 wire_format::handler(back) == number && via::header::length(head) == 16 &&
                 arrived.words[1] == kArgument;
    };
    const std::uint64_t start = viaduct::monotonic_ns();
    while (!is_right && viaduct::monotonic_ns() - start < 60'000'000'000) (void)vi_->drain(4, look);
    return is_right;
  }

  /// The whole ring at once, marks of full and empty slots included.
  void scribble() {
    for (std::uint32_t i = 0; i < lines_; ++i) {
      for (std::uint64_t& word : line(i).words) word = random_();
      line(i).header.store(random_(), std::memory_order_release);
    }
  }

 private:
  std::uint64_t random_word() {
    switch (random_() % 4) {
      case 0:
        return random_();
      case 1:
        return random_() % 8192 | (random_() % 5000)
                                      << 32;  // a place in the medium ring, and a length
      case 2:
        return random_() % 100000;
      default:
        return 0;
    }
  }
  std::uint64_t nearly_right() {
    namespace wire_format = am::detail::wire_format;
    const auto handler = static_cast<std::uint16_t>(am::kOwnHandlers + random_() % 8);
    std::uint64_t client = wire_format::make(static_cast<am::detail::Kind>(random_() % 4),
                                             static_cast<am::Operation>(random_() % 4), handler);
    if (random_() % 4 == 0) client |= wire_format::overflow_bit;
    const std::uint64_t lines = random_() % 4;
    return via::header::make(via::MessageKind::inline_data,
                             static_cast<std::uint32_t>(random_() % 80), client) |
           lines << via::header::lines_shift;
  }

  via::channel::Nic& nic_;
  via::channel::Group group_{nic_};
  Random& random_;
  std::uint16_t number_;
  std::uint32_t lines_ = 0;
  std::unique_ptr<via::channel::Channel> vi_;
  am::detail::EndpointPage* page_ = nullptr;
};

}  // namespace fault
