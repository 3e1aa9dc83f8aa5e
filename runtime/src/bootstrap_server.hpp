#pragma once
/// @file
/// The launcher's side of the bootstrap: one socket per rank, answers that never make it wait for
/// one of them.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/src/exchange.hpp"
#include "runtime/src/link.hpp"
#include "runtime/src/wire_format.hpp"
#include "viaduct/runtime/file_descriptor.hpp"

namespace viaduct {

class BootstrapServer {
 public:
  /// Messages of ranks that concern the whole job go to @p submit, and take effect when apply() is
  /// called with them; without @p submit at once.
  using Submit = std::function<void(link::Frame&&)>;
  explicit BootstrapServer(std::uint32_t size)
      : BootstrapServer(size, [this](link::Frame&& event) { apply(event); }) {}
  BootstrapServer(std::uint32_t size, Submit submit);
  BootstrapServer(const BootstrapServer&) = delete;
  BootstrapServer& operator=(const BootstrapServer&) = delete;

  /// @p socket: the launcher's end of @p rank's socket pair.
  void open(Rank rank, FileDescriptor socket);

  /// Reads and answers the messages of @p rank, at most a few. Blocks never. Answers an empty text,
  /// or the mistake in the rank's bytes, after which the job must end.
  [[nodiscard]] std::string readable(Rank rank);
  /// Sends the answers that had to wait until @p rank's socket took more.
  [[nodiscard]] std::string writable(Rank rank);
  [[nodiscard]] bool wants_to_write(Rank rank) const noexcept {
    return !ranks_[index(rank)].queue.empty();
  }

  /// The ranks whose answers have begun to wait since the last call: writable() is due when their
  /// sockets take more.
  [[nodiscard]] std::vector<Rank> take_stalled() { return std::exchange(stalled_, {}); }

  /// The ranks whose connections have ended since the last call, by their own doing. A connection
  /// may be found to have ended while another rank is served.
  [[nodiscard]] std::vector<Rank> take_hung_up();

  /// Whether @p rank, which has or had a connection, may say that it has finalized its Job: only a
  /// rank that was released from the fence at its Job's end has. True of a rank without one.
  [[nodiscard]] bool may_have_finalized(Rank rank) const noexcept {
    return !ranks_[index(rank)].was_open || exchange_.has_ended(rank);
  }
  /// Whether @p rank has said that it fails: it waits a little for the others, and ends then.
  [[nodiscard]] bool has_failed(Rank rank) const noexcept { return ranks_[index(rank)].failed; }
  /// Whether @p rank, of any host, waits at a fence.
  [[nodiscard]] bool waits(Rank rank) const noexcept { return exchange_.is_waiting(rank); }

  /// An event whose turn has come: put, arrive or lost; others are not the server's.
  void apply(const link::Frame& event);

  /// @p rank is lost: ranks that wait for it are told, its shared descriptors are closed.
  void lose(Rank rank);
  /// @p rank has ended well; its connection and descriptors are closed.
  void close(Rank rank);
  /// Whether the rank's end of the connection is still open as far as is known.
  [[nodiscard]] bool is_open(Rank rank) const noexcept {
    return ranks_[index(rank)].socket.is_open();
  }
  [[nodiscard]] int socket(Rank rank) const noexcept { return ranks_[index(rank)].socket.get(); }

  static constexpr std::size_t kMaxBytesPerRank = std::size_t{16} << 20;
  static constexpr std::size_t kMaxQueued = 16;

 private:
  struct Answer {
    std::vector<std::byte> bytes;
    Rank descriptor_of{};
    bool with_descriptor = false;
    std::string key = {};  // of the descriptor
  };
  struct PerRank {
    FileDescriptor socket;
    bool was_open = false;
    std::map<std::string, FileDescriptor, std::less<>> shared_fds;
    std::deque<Answer> queue;
    std::size_t put_bytes = 0;
    bool waits = false;   // at a fence
    bool failed = false;  // by its own word
  };
  std::string handle(Rank rank, wire_format::Datagram& datagram);
  std::string dispatch(Rank rank, const wire_format::Message& message, FileDescriptor& fd);
  std::string put(Rank rank, const wire_format::Message& message);
  std::string share(Rank rank, std::string_view key, FileDescriptor& fd);
  std::string arrive(Rank rank, FenceKind kind);
  std::string barrier(Rank rank, const wire_format::Message& message);
  void answer_get(Rank rank, const wire_format::Message& message);
  void answer_fetch(Rank rank, const wire_format::Message& message);
  [[nodiscard]] int shared_fd(Rank owner, std::string_view key) const noexcept;
  void answer(Rank rank, const wire_format::Message& message);
  void release_fences();
  std::string flush(Rank rank);
  void hang_up(Rank rank) noexcept;
  void close_socket(Rank rank) noexcept;
  void disconnect(Rank rank) noexcept;

  Exchange exchange_;
  std::vector<PerRank> ranks_;
  std::vector<Rank> stalled_;
  std::vector<Rank> hung_up_;
  Submit submit_;
};

}  // namespace viaduct
