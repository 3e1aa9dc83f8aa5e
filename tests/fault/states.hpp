#pragma once
/// @file
/// What the ranks of a fault test tell their driver: a page of shared memory that outlives them, so
/// that a victim's last state is the state it died in.

#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace fault {

inline constexpr std::uint32_t kMaxRanks = 16;

enum class State : std::uint32_t {
  starting,    ///< not yet in its first round
  idle,        ///< outside the library, nothing of its own outstanding
  in_handler,  ///< a handler runs; its requester waits for the reply
  holding,     ///< outside the library, its own requests unanswered and its peers' untaken: credits
               ///< held both ways
  waiting,     ///< in a wait of the library, for replies
  finished,
};
inline constexpr std::uint32_t kStates = 6;

inline const char* to_string(State state) {
  constexpr std::array<const char*, kStates> kNames{"starting",        "idle",    "in a handler",
                                                    "holding credits", "waiting", "finished"};
  return kNames[static_cast<std::uint32_t>(state)];
}

struct alignas(64) RankLine {
  std::atomic<std::int32_t> pid;
  std::atomic<State> state;
  std::atomic<std::uint32_t> rounds;
  std::atomic<std::uint32_t> done;       // asks nothing more of its peers, and only serves
  std::atomic<std::uint32_t> peer_lost;  // requests that were answered so
  std::atomic<std::uint64_t>
      noticed_ns;  // when the loss was first told, by an answer or a returned message
  // By peer.
  std::array<std::atomic<std::uint64_t>, kMaxRanks> sent;
  std::array<std::atomic<std::uint64_t>, kMaxRanks> replied;
  std::array<std::atomic<std::uint64_t>, kMaxRanks> returned;
  std::array<std::atomic<std::uint64_t>, kMaxRanks> handled;
};

struct Page {
  std::array<RankLine, kMaxRanks> ranks;

  /// A new page, and the descriptor that programs inherit.
  static Page& create(int& fd) {
    fd = ::memfd_create("fault-states", 0);
    if (fd < 0 || ::ftruncate(fd, sizeof(Page)) != 0) std::abort();
    return attach(fd);
  }
  static Page& attach(int fd) {
    void* const at = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) std::abort();
    return *static_cast<Page*>(at);
  }
};

}  // namespace fault
