#pragma once
/// @file
/// A transport between two ends of one rank, which writes by memcpy and as far as the test gives it
/// room.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "viaduct/via/transport.hpp"

namespace viaduct::via::channel {

class FakeTransport;

/// A write, as it was posted.
struct Posted {
  const void* owner;  // the end that has posted it
  bool back;
  std::array<Link::Piece, Link::kMaxPieces> pieces{};
  std::size_t count;
  std::uint32_t notification;
  bool tell;
};

class FakeLink final : public Link {
 public:
  FakeLink(FakeTransport& transport, std::byte* block, std::size_t half, void* owner);
  ~FakeLink() override;

  [[nodiscard]] Name name() const noexcept override {
    Name name{};
    const FakeLink* const self = this;
    std::memcpy(name.data(), &self, sizeof self);
    return name;
  }
  void connect(Rank, const Name& theirs) override {
    std::memcpy(&peer_, theirs.data(), sizeof peer_);
  }
  bool post(std::span<const Piece> pieces, std::uint32_t notification, bool tell) noexcept override;
  bool post_line(std::uint32_t offset, std::uint32_t notification) noexcept override {
    const Piece piece{offset, kLineBytes};
    return post(std::span(&piece, 1), notification, true);
  }
  bool post_back(Piece piece, std::uint32_t notification, bool tell) noexcept override;
  [[nodiscard]] bool ready() const noexcept override { return true; }
  bool write(const std::byte*, std::size_t, std::uint64_t, std::uint32_t) noexcept override {
    return false;
  }
  bool read(std::byte*, std::size_t, std::uint64_t, std::uint32_t) noexcept override {
    return false;
  }
  Transfer put(const std::byte*, std::size_t, std::uint64_t, std::uint32_t,
               Source) noexcept override {
    return 0;
  }
  Transfer get(std::byte*, std::size_t, std::uint64_t, std::uint32_t) noexcept override {
    return 0;
  }
  bool is_sent(Transfer) noexcept override { return true; }
  bool is_done(Transfer) noexcept override { return true; }
  bool drained() noexcept override { return true; }
  void fail() noexcept override { failed_ = true; }
  [[nodiscard]] bool failed() const noexcept override { return failed_; }

 private:
  FakeTransport& transport_;
  std::byte* block_;
  std::size_t half_;
  void* owner_;
  FakeLink* peer_ = nullptr;
  bool failed_ = false;
};

class FakeTransport final : public Transport {
 public:
  static constexpr std::uint32_t kNoLimit = 1U << 30;
  static constexpr std::size_t kMostNoted = 4096;

  FakeTransport() {
    posted.reserve(kMostNoted);
    events.reserve(kMostNoted);
  }

  std::uint32_t room = kNoLimit;       // of forward writes
  std::uint32_t back_room = kNoLimit;  // of writes back
  std::vector<Posted> posted;          // until the test clears it
  std::vector<LinkEvent> events;       // that poll() will answer
  std::vector<FakeLink*> links;
  bool lacks_memory = false;  // the next progress()

  [[nodiscard]] std::unique_ptr<Link> make_link(std::byte* block, std::size_t half_bytes,
                                                std::uint32_t, void* owner) override {
    return std::make_unique<FakeLink>(*this, block, half_bytes, owner);
  }
  [[nodiscard]] std::size_t bytes_per_link(std::uint32_t) const noexcept override { return 0; }
  [[nodiscard]] std::size_t poll(LinkEvents& out) noexcept override {
    const auto n = std::min(out.size(), events.size());
    const auto end = events.begin() + static_cast<std::ptrdiff_t>(n);
    std::copy(events.begin(), end, out.begin());
    events.erase(events.begin(), end);
    return n;
  }
  void arm() noexcept override {}
  [[nodiscard]] std::uint32_t register_memory(std::byte*, std::size_t) override { return 0; }
  void deregister(std::uint32_t) noexcept override {}
  [[nodiscard]] std::optional<std::uint32_t> register_chunk(std::byte*,
                                                            std::size_t) noexcept override {
    return {};
  }
  void send_control(Rank, std::span<const std::byte> message) override {
    control_.emplace_back(message.begin(), message.end());
  }
  void progress(const ControlHandler& handler) override {
    if (std::exchange(lacks_memory, false)) throw std::bad_alloc();
    for (const auto& message : std::exchange(control_, {})) handler(Rank{0}, message);
  }
  [[nodiscard]] bool all_delivered() const noexcept override { return control_.empty(); }
  [[nodiscard]] std::vector<Rank> silent_for(std::uint64_t) const override { return {}; }
  [[nodiscard]] std::vector<Rank> out_of_reach(std::uint64_t) override { return {}; }
  void probe(Rank) override {}
  void forget(Rank) noexcept override {}

 private:
  std::vector<std::vector<std::byte>> control_;
};

inline FakeLink::FakeLink(FakeTransport& transport, std::byte* block, std::size_t half, void* owner)
    : transport_(transport), block_(block), half_(half), owner_(owner) {
  transport_.links.push_back(this);
}

inline FakeLink::~FakeLink() {
  std::erase(transport_.links, this);
  std::erase_if(transport_.events, [this](const LinkEvent& e) { return e.owner == owner_; });
  for (FakeLink* other : transport_.links)
    if (other->peer_ == this) other->failed_ = true;
}

inline bool FakeLink::post(std::span<const Piece> pieces, std::uint32_t notification,
                           bool tell) noexcept {
  if (failed_ || transport_.room == 0) return false;
  --transport_.room;
  Posted& post =
      transport_.posted.emplace_back(Posted{owner_, false, {}, pieces.size(), notification, tell});
  std::copy(pieces.begin(), pieces.end(), post.pieces.begin());
  for (const Piece& piece : pieces)
    std::memcpy(peer_->block_ + peer_->half_ + piece.offset, block_ + piece.offset, piece.bytes);
  if (tell) transport_.events.push_back({peer_->owner_, notification, ErrorCause::none});
  return true;
}

inline bool FakeLink::post_back(Piece piece, std::uint32_t notification, bool tell) noexcept {
  if (failed_ || transport_.back_room == 0) return false;
  --transport_.back_room;
  transport_.posted.push_back({owner_, true, {piece}, 1, notification, tell});
  std::memcpy(peer_->block_ + piece.offset, block_ + half_ + piece.offset, piece.bytes);
  if (tell) transport_.events.push_back({peer_->owner_, notification, ErrorCause::none});
  return true;
}

}  // namespace viaduct::via::channel
