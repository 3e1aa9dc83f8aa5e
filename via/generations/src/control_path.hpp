#pragma once
/// @file
/// The control messages of a transport of MAPs: one VI to each peer that has been talked to, with
/// credits of its own. A rank connects it when it first has something to say.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "via/generations/src/lane.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::via::generations {

class ControlPath {
 public:
  /// The discriminator of its VIs, which no MAP has.
  static constexpr std::uint64_t kDiscriminator = std::uint64_t{1} << 63;
  static constexpr std::size_t kMostBytes = 256;

  ControlPath(Job& job, Nic& nic, ProtectionTag tag, ArenaStore& arenas);

  using Handler = std::function<void(Rank, std::span<const std::byte>)>;
  /// A rank to whom there is no VI, for want of memory, is one that broken_for() answers.
  void send(Rank to, std::span<const std::byte> message);
  /// Hands over the messages that have come; sends those that wait.
  void progress(const Handler& handler);
  [[nodiscard]] bool all_delivered() const noexcept;
  [[nodiscard]] std::vector<Rank> silent_for(std::uint64_t ns) const;
  [[nodiscard]] std::vector<Rank> broken_for(std::uint64_t ns) const;
  void probe(Rank to);
  void forget(Rank rank) noexcept;
  /// A peer asks for a connection, and is rejected where it cannot be made.
  void incoming(Rank from);

 private:
  static constexpr std::uint32_t kCredits = 8;  // messages that have not been handled
  static constexpr std::uint32_t kBufferBytes = 320;
  struct Head {
    std::uint32_t number;   // from 1; 0: no message, only the count
    std::uint32_t handled;  // of the peer's
  };
  struct Peer {
    explicit Peer(Rank its_rank) : rank(its_rank) {}
    Rank rank;
    std::optional<Lane> lane;
    bool connected = false;
    bool broken = false;
    std::deque<std::vector<std::byte>> waiting;
    std::uint32_t sent = 0, answered = 0;  // answered: handled by the peer, or given up
    std::uint32_t handled = 0, told = 0;   // of the peer's
    std::uint64_t since_ns = 0;            // when the peer last answered, while it has to
    [[nodiscard]] bool silent() const noexcept { return sent != answered || !waiting.empty(); }
  };
  struct Message {
    Rank from;
    std::vector<std::byte> bytes;
  };

  [[nodiscard]] Peer& peer(Rank rank);
  [[nodiscard]] bool open(Peer& peer);
  void move_on(Peer& peer);
  void take(const Completion& done);
  void take_completions();
  [[nodiscard]] bool post(Peer& peer, std::uint32_t number, std::span<const std::byte> message);
  [[nodiscard]] std::vector<Rank> ranks_where(std::uint64_t ns, bool broken) const;

  Job& job_;
  Nic& nic_;
  ProtectionTag tag_;
  ArenaStore& arenas_;
  std::unique_ptr<CompletionQueue> send_queue_;
  std::unique_ptr<CompletionQueue> receive_queue_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null: not talked to
  std::vector<Peer*> known_;
  std::deque<Message> come_;
};

}  // namespace viaduct::via::generations
