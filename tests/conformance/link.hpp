#pragma once
/// @file
/// One end of a connection: a VI with completion queues of its own or given ones.

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>

#include "tests/conformance/buffer.hpp"
#include "tests/conformance/rig.hpp"

namespace viaduct::conformance {

class Link {
 public:
  /// Without completion queues in @p attributes it makes one for both work queues. A missing tag is
  /// the case's.
  explicit Link(Rig& rig, via::ViAttributes attributes = {});
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] via::Vi& vi() noexcept { return *vi_; }
  [[nodiscard]] via::CompletionQueue& queue() noexcept { return *queue_; }

  /// Must be accepted.
  void post_send(via::Descriptor& descriptor, Where where = Where::here());
  void post_receive(via::Descriptor& descriptor, Where where = Where::here());

  /// The next completion of a work queue; the case fails when none comes.
  via::Descriptor& next_send(Where where = Where::here());
  via::Descriptor& next_receive(Where where = Where::here());
  /// Next completion must be this one.
  void expect_next_send(const via::Descriptor& descriptor, Where where = Where::here());
  void expect_next_receive(const via::Descriptor& descriptor, Where where = Where::here());
  /// Nothing completes for a while.
  void expect_nothing(Where where = Where::here());
  /// Takes what is there; null when nothing is.
  via::Descriptor* try_next(via::Queue queue);

 private:
  via::Descriptor& next(via::Queue queue, Where where);
  bool take(std::int64_t timeout_ns, Where where);

  std::unique_ptr<via::CompletionQueue> queue_;
  std::unique_ptr<via::Vi> vi_;
  std::deque<via::Descriptor*> sent_, received_;  // taken from the queue and not asked for yet
};

/// Connects the links of ranks 0 (client) and 1 (server); both call it.
void connect(Rig& rig, via::Vi& vi, Where where = Where::here());
inline void connect(Rig& rig, Link& link, Where where = Where::here()) {
  connect(rig, link.vi(), where);
}
/// Peer-to-peer with any rank, whichever starts first.
void connect_peer(Rig& rig, via::Vi& vi, Rank peer, std::uint64_t discriminator,
                  Where where = Where::here());
/// Connects two VIs of this rank with each other.
void connect_self(Rig& rig, via::Vi& a, via::Vi& b, Where where = Where::here());

/// Depths and service level in short.
[[nodiscard]] via::ViAttributes vi_attributes(
    std::uint32_t depth, via::Reliability reliability = via::Reliability::delivery);
/// Levels that the provider offers.
[[nodiscard]] std::vector<via::Reliability> offered_levels(const Rig& rig);
[[nodiscard]] std::vector<via::Reliability> offered_reliable_levels(const Rig& rig);
[[nodiscard]] const char* name_of(via::Reliability level) noexcept;

// What a completed descriptor must say.
void expect_done(const via::Descriptor& descriptor, via::CompletedOperation operation,
                 std::uint64_t length, Where where = Where::here());
/// At least one of @p bits, and no claim of success.
void expect_failed(const via::Descriptor& descriptor, std::uint32_t bits,
                   Where where = Where::here());
void expect_flushed(const via::Descriptor& descriptor, via::CompletedOperation operation,
                    Where where = Where::here());

/// One message each way: the connection works.
void expect_alive(Rig& rig, Link& link, Where where = Where::here());

}  // namespace viaduct::conformance
