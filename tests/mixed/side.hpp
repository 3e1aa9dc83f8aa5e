#pragma once
// What a process of the mixed program has: a board outside of all that is tested, memory for
// Split-C, an endpoint.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

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

 private:
  std::atomic<std::uint64_t>* words_;
};

/// The memory that the others use by global pointers.
struct Shared {
  static constexpr std::size_t kBlock = 100;
  long word = 0;
  long counter = 0;
  long by_function = 0;
  long by_handler = 0;
  long stored = 0;
  long awaited = 0;  // of store_sync
  splitc::lock_t lock;
  splitc::lock_t held;  // by an actor while another process waits for it
  long block[kBlock] = {};
};

class Side {
 public:
  Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] am::Index index(int process) const noexcept {
    return am::Index{static_cast<std::uint32_t>(process)};
  }
  /// Stops the job with a sentence that names the pair unless @p right.
  void require(bool right, const char* what) const;
  void require(Status status, const char* what) const { require(status == Status::ok, what); }

  Board board;
  Shared* shared;
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
};

/// Of this process, which may be a thread.
extern thread_local Side* side;

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

// Functions that atomic() brings.
long read_stored();
long add_by_function(long by);

/// A call that waits. The process `waiter` calls wait(); what it waits for is what the process
/// `actor` does in release(), or comes from the process `owner`, which serves nobody before the
/// actor's operation is over.
struct Wait {
  const char* name;
  enum class Ends : std::uint8_t { by_actor, by_owner, by_all } ends;
  enum class Model : std::uint8_t { splitc, am } model;
  void (*wait)(int owner, int actor);
  void (*release)(int waiter) = nullptr;  // by_actor
  void (*prepare)(int waiter) = nullptr;  // the actor, before the waiter begins
  bool sleeps = true;                     // in the engine
};
/// What the actor does at the waiter, which must serve it.
struct Served {
  const char* name;
  Wait::Model model;
  void (*act)(int waiter);
};

[[nodiscard]] std::span<const Wait> waits();
[[nodiscard]] std::span<const Served> served_operations();

}  // namespace viaduct::mixed
