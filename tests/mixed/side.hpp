#pragma once
// What a process of the mixed program has: a board outside of all that is tested, memory for
// Split-C, an endpoint.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::mixed {

/// A file that all processes map, on however many hosts of one machine they pretend to be: one
/// tells another here what must not depend on messages.
class Board {
 public:
  /// Collective.
  Board();
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// The actor's operation of round @p round is over.
  void open(std::uint64_t round) noexcept { words_[0].store(round); }
  [[nodiscard]] bool is_open(std::uint64_t round) const noexcept { return words_[0] >= round; }
  /// Waits for it without a poll.
  void await_open(std::uint64_t round) const noexcept;
  /// The owner polls no more.
  void be_deaf(std::uint64_t round) noexcept { words_[1].store(round); }
  [[nodiscard]] bool owner_is_deaf(std::uint64_t round) const noexcept {
    return words_[1] >= round;
  }
  /// The waiter goes into its wait.
  void be_ready(std::uint64_t round) noexcept { words_[3].store(round); }
  [[nodiscard]] bool waiter_is_ready(std::uint64_t round) const noexcept {
    return words_[3] >= round;
  }
  /// The waiter has handled the reply that it gets in its wait.
  void note_reply(std::uint64_t round) noexcept { words_[2].store(round); }
  /// Waits for it without a poll.
  void await_reply(std::uint64_t round) const noexcept;

 private:
  void await(int word, std::uint64_t round) const noexcept;

  std::atomic<std::uint64_t>* words_;
};

/// The memory that the others use by global pointers.
struct Shared {
  static constexpr std::size_t kBlock = 100;
  static constexpr std::size_t kLarge = 20480;  // more than VIADUCT_SPLITC_STAGING bytes
  long word = 0;
  long counter = 0;
  long by_function = 0;
  long by_handler = 0;
  long swapped = 0;
  long stored = 0;
  long awaited = 0;  // of store_sync
  splitc::lock_t lock;
  splitc::lock_t held;  // by an actor while another process waits for it
  long block[kBlock] = {};
  long large[kLarge] = {};
};
/// More operations than a process has credits for another one, on any channel.
inline constexpr int kFlood = 150;
// Counters of stores.
inline constexpr splitc::store_counter kWaitedFor{0};
inline constexpr splitc::store_counter kElsewhere{1};

class Side {
 public:
  Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] am::Index index(int process) const noexcept {
    return am::Index{static_cast<std::uint32_t>(process)};
  }
  /// Forgets @p process, which is mapped again at once.
  void unmap(int process);
  /// Stops the job with a sentence that names the pair unless @p right.
  void require(bool right, const char* what) const;
  void require(Status status, const char* what) const { require(status == Status::ok, what); }

  Board board;
  Shared* shared;
  // Of collective allocations: a free waits alone.
  long* spare;
  splitc::spread_ptr<long> spare_spread;
  am::Context context;
  am::Bundle bundle;
  am::Endpoint endpoint;
  std::uint64_t round = 0;
  const char* wait_name = "";
  const char* served_name = "";
  // Changed by handlers.
  long replies = 0;
  long last_reply = 0;
  std::uint64_t released = 0;  // the last round whose actor has sent a release
  long counted = 0;
  std::uint64_t asked = 0;  // the last round in which the waiter has asked for a reply
  long large_replies = 0;   // made by this process' handlers
  std::vector<long> large;  // the most that a medium message takes
};

/// Of this process, which may be a thread.
extern thread_local Side* side;
/// Its memory, which stays when its Side has ended.
extern thread_local Shared* own_shared;

// Handlers.
void on_ask(am::Token& token, long value);
void on_ask_medium(am::Token& token, std::span<const long> values);
void on_ask_bulk(am::Token& token, std::span<long> values);
void on_answer(am::Token&, long value);
void on_medium_answer(am::Token&, std::span<const long> values);
void on_release(am::Token&, std::uint64_t round);
void on_count(am::Token&, long by);
void on_count_medium(am::Token&, std::span<const long> values);
void on_count_bulk(am::Token&, std::span<long> values);
void on_got(am::Token&, std::span<long> values);
void on_raw(am::Token&, const am::Arrival& arrival);
void on_ask_for_bulk(am::Token& token, long value);
void on_bulk_answer(am::Token&, std::span<long> values);
void on_ask_for_large(am::Token& token);
void on_large_answer(am::Token&, std::span<const long> values);
void on_ask_in_wait(am::Token& token, std::uint64_t round);
void on_answer_in_wait(am::Token&, std::uint64_t round);
// Handlers of calls.
long on_twice(am::Token&, long value);
long on_sum(am::Token&, std::span<const long> values);

// Functions that atomic() brings.
long read_stored();
long read_large();
long add_by_function(long by);
void no_function();

enum class Model : std::uint8_t { splitc, am };

/// A call that waits. The process `waiter` calls wait(). The process `owner` serves nobody before
/// the actor's operation is over.
struct Wait {
  const char* name;
  /// What ends the wait: what the process `actor` does in release(); what comes from the owner;
  /// the same, where all goes by message, since on other paths the wait may need nobody; the same
  /// call in all processes.
  enum class Ends : std::uint8_t { by_actor, by_owner, by_message, by_all } ends;
  /// Its row in docs/guide.md. In the last one no request of Active Messages is handled.
  enum class Row : std::uint8_t { splitc, am, replies } row;
  void (*wait)(int owner, int actor);
  bool sleeps = true;                     // in the engine
  void (*release)(int waiter) = nullptr;  // by_actor
  void (*prepare)(int waiter) = nullptr;  // the actor, before the waiter begins
  void (*ask)(int waiter) = nullptr;      // the owner, before it serves nobody
};
/// What the actor does at the waiter, which must serve it.
struct Served {
  const char* name;
  Model model;
  void (*act)(int waiter);
  /// Who may do it at whom while all processes do operations: everybody at anybody; at one process
  /// each, since it reads back what it has written; nobody, since the waiter takes a part.
  enum class Cycle : std::uint8_t { anywhere, neighbour, never } cycle = Cycle::neighbour;
  void (*ask)(int actor) = nullptr;  // the waiter, before its wait
  bool by_all = false;               // needs the service of every process
};

/// Whether the actor has sent the message that a wait of this round ends with.
[[nodiscard]] bool is_released();
/// Sends it.
void release_message(int waiter);

[[nodiscard]] std::span<const Wait> splitc_waits();
[[nodiscard]] std::span<const Wait> am_waits();
/// Waits that a process has once or rarely: each is held against all operations in a row.
[[nodiscard]] std::span<const Wait> rare_waits();
[[nodiscard]] std::span<const Served> served_operations();

}  // namespace viaduct::mixed
