#pragma once
/// @file
/// The messages between agents, ranks that join, and the hub: frames on a TCP connection, each
/// with an HMAC under a key of the connection and direction and with its number. Both ends run one
/// build on machines of one byte order (the handshake checks it).

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/src/secret.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct::link {

using Clock = std::chrono::steady_clock;

enum class Kind : std::uint16_t {
  // Events: from an agent to the hub, from there to all agents.
  put = 1,    // rank, key, value
  arrive,     // rank, number: FenceKind
  lost,       // rank, number: RankState, cause, and in value the rank's last barrier
  barrier,    // rank, number: ticket
  ending,     // rank: its Job's destructor waits
  finalized,  // rank: has ended, and well
  port,       // rank, number: 1 when a port of its network devices is down, 0 when up again
  last_event = port,
  // Joining, hub to rank.
  table = 32,  // value: for each rank its host's number
  ready,       // all agents are there; from a rank: it has joined its agent
  failed,      // key: why there will be no job
  // viaduct-run to its agents, and back.
  start = 64,  // value: the agent's order
  signal,      // number
  end,         // the ranks get SIGTERM, then SIGKILL; number 1: SIGKILL at once
  report,      // print what each rank waits for
  failure,     // number: exit status; cause: its weight; key: the sentence
  done,        // nothing is left on the host
  last = done,
};

struct Frame {
  Kind kind = Kind::failed;
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  std::int32_t cause = 0;
  std::string key = {};
  std::vector<std::byte> value = {};
};
[[nodiscard]] constexpr bool is_event(Kind kind) noexcept { return kind <= Kind::last_event; }

inline constexpr std::size_t kMaxKey = std::size_t{128} << 10;
inline constexpr std::size_t kMaxValue = std::size_t{1} << 20;

struct Keys {
  Digest sending{};
  Digest receiving{};
};

/// One authenticated connection. Never waits but in receive_within and flush_within.
class Link {
 public:
  Link() = default;
  /// @p socket is connected.
  Link(FileDescriptor socket, const Keys& keys);

  [[nodiscard]] bool is_open() const noexcept { return socket_.is_open(); }
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  void close() noexcept;

  /// Queues a frame and sends what the socket takes. A connection that has ended is closed.
  void send(const Frame& frame);
  void flush() noexcept;
  /// While this lives, the frames that are sent stay queued; its end sends them together, so that
  /// the peer acts on nothing else between the first and the last of them.
  class Together {
   public:
    explicit Together(Link& link) noexcept : link_(link) { ++link_.holds_; }
    ~Together() {
      if (--link_.holds_ == 0) link_.flush();
    }
    Together(const Together&) = delete;
    Together& operator=(const Together&) = delete;

   private:
    Link& link_;
  };
  [[nodiscard]] bool wants_to_write() const noexcept { return is_open() && !out_.empty(); }

  /// Takes the bytes that have arrived. When the stream has ended or was tampered with, the link is
  /// closed; complete frames that came before stay there for next().
  void fill();
  [[nodiscard]] std::optional<Frame> next();
  /// Why the link was closed, when it was not by its peer: a sentence.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

  /// The next frame; nothing when the time is up (still open) or the connection has ended.
  [[nodiscard]] std::optional<Frame> receive_until(Clock::time_point limit);
  /// False when not all could be sent.
  bool flush_until(Clock::time_point limit);

 private:
  std::optional<Frame> incomplete();
  std::optional<Frame> refuse(std::string complaint);
  FileDescriptor socket_;
  Keys keys_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::vector<std::byte> in_;
  std::size_t taken_ = 0;  // bytes of in_ that are in frames which next() has given
  std::vector<std::byte> out_;
  std::string complaint_;
  unsigned holds_ = 0;  // of Together
};

}  // namespace viaduct::link
