#pragma once
/// @file
/// The progress engine of a rank: a thread that waits serves all its clients.
///
/// The clients are the bundles of Active Messages, and Split-C. Each client polls its own group
/// inline. The engine lets a thread that waits in one of its clients serve the others, and blocks
/// in the kernel for all of them at once. docs/channel.md, "Group, client, engine".

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "viaduct/runtime/atomic.hpp"
#include "viaduct/via/shm/sleep.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::via::channel {

class Group;
class Nic;
using shm::SleepLocks;

/// Which messages a client may handle: replies alone, or requests too.
enum class Run : std::uint8_t { replies, all };

class Engine;

/// A client of the engine. It belongs to a thread (its home), which serves it while it waits. The
/// engine calls only on cold paths, and only in the home thread, or in one that waits in a client
/// of the same family.
class Client {
 public:
  /// Whether serving the client may run functions that reply or that use other clients. A passive
  /// client never does, and is served in plain polls of the others as well.
  enum class Kind : std::uint8_t { runs_handlers, passive };

  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// @return whether the calling thread is the home.  Cost: a load.
  [[nodiscard]] bool is_home() const noexcept;
  /// The calling thread becomes the home.  Precondition: the lock of try_lock() is held, or no
  /// thread serves the client yet.
  void come_home() noexcept;
  /// Each thread that waits in one client of a family serves the others of that family, whichever
  /// thread is their home. @p family: any address that stands for it; null: none.
  void join(const void* family) noexcept { family_.store(family, kRelaxed); }

 protected:
  Client(Nic& nic, Group& group, Kind kind) noexcept;
  ~Client() = default;

 private:
  friend class Engine;

  /// False: another thread uses the client, and serves it, or has become its home.
  virtual bool try_lock() noexcept { return true; }
  virtual void unlock() noexcept {}
  /// Handles the messages that have come and answers their number. Locked.
  virtual std::uint32_t serve(Run run) noexcept = 0;
  /// Publishes every credit and counter that is withheld. False: that has brought up something to
  /// serve. Locked.
  virtual bool before_sleep() noexcept = 0;
  /// Whether a handler of the client runs in this thread. Not locked.
  [[nodiscard]] virtual bool runs_handler() noexcept { return false; }
  /// A function begins in the home thread, or ends, in which no call of the client may communicate
  /// (Engine::begin_function). Under the engine's lock.
  virtual void begin_function() noexcept {}
  virtual void end_function() noexcept {}

  [[nodiscard]] shm::Watched watched() const noexcept;
  /// Whether @p thread, which waits in @p waiting (null: in no client), serves this client.
  [[nodiscard]] bool is_served_in(const Client* waiting, std::uintptr_t thread) const noexcept;

  Nic& nic_;
  Group& group_;
  shm::Watched watched_;  // in the list of a sleep
  Kind kind_;
  AtomicWord<std::uintptr_t> home_ = 0;
  AtomicWord<const void*> family_ = nullptr;
  // Under the engine's lock.
  bool in_use_ = false;
  std::uintptr_t user_ = 0;  // the thread that uses it
  // The home thread's.
  std::uint32_t quiet_serves_ = 0;
  Client* next_ = nullptr;  // in the list of a sleep
};

/// Each rank has one engine: the first client makes it, and the last client's end ends it.
///
/// Call from   any thread; a client is served in its home thread.
class Engine {
 public:
  /// @return the engine of @p job's rank.  Throws Error (memory). Cost: a lock.
  [[nodiscard]] static std::shared_ptr<Engine> of(Job& job);

  explicit Engine(Job& job);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// The calling thread becomes the client's home.  Throws Error (memory).
  void add(Client& client);
  /// Blocks while another thread serves @p client.
  void remove(Client& client) noexcept;
  /// @return whether there is one client at most: nothing else is to be served.  Cost: a load.
  [[nodiscard]] bool is_alone() const noexcept { return count_.load(kRelaxed) < 2; }
  /// @return whether there is no client.  Cost: a load.
  [[nodiscard]] bool is_empty() const noexcept { return count_.load(kRelaxed) == 0; }
  /// @return whether some client is passive.  Cost: a load.
  [[nodiscard]] bool has_passive() const noexcept { return passive_.load(kRelaxed) != 0; }

  /// @return the word that all NICs of the rank's clients are made with.
  [[nodiscard]] AtomicWord<std::uint64_t>& attention() noexcept { return attention_; }
  /// Says that a NIC has been made with the word: peers may set it until the job ends.
  void keep_attention() noexcept { keeps_attention_.store(true, kRelaxed); }
  /// @return whether something may have come for some client since take_attention().  Cost: a load.
  [[nodiscard]] bool asks() const noexcept { return attention_.load(kRelaxed) != 0; }
  /// As asks(), and clears the word.  Order: before the polls of all clients.  Cost: a load; a
  /// locked store where something has come.
  [[nodiscard]] bool take_attention() noexcept {
    if (!asks()) return false;
    attention_.store(0);
    return true;
  }
  /// Says whether the calling thread looks at the word in light polls of its own: then no other
  /// thread clears the word.
  void watch(bool does) noexcept;

  struct Outcome {
    std::uint32_t handled = 0;
    bool hot = false;  ///< a message that the word does not tell of may come for one
  };
  /// Serves the calling thread's clients but @p self.
  ///
  /// Blocks      never.
  /// Call from   a wait or poll of @p self. A client that is being served already is left out.
  /// Cost        a lock and a poll for each.
  ///
  /// @param asked  the word was set: control messages are looked for as well.
  Outcome serve_others(Client& self, Run run, bool asked) noexcept;
  /// The same where the word has not been taken; answers the number of messages.
  std::uint32_t serve_others(Client& self, Run run) noexcept;
  /// The same for all clients of the calling thread.  Call from: a wait that is no client's.
  std::uint32_t serve_all() noexcept;
  /// The same for passive clients alone.
  void serve_passive(Client& self) noexcept;
  /// Says that a function runs in the calling thread, until end_function(), in which no client may
  /// communicate. The thread's clients stop the program in calls that do. Both may be nested. Cost:
  /// a lock, and one for each client.
  void begin_function() noexcept;
  void end_function() noexcept;
  /// @return whether such a function runs in the calling thread.  Cost: a load.
  [[nodiscard]] bool runs_function() const noexcept {
    const std::uintptr_t thread = function_thread_.load(kRelaxed);
    return thread != 0 && is_this_thread(thread);
  }
  /// @return whether a handler of some client runs in the calling thread.  Cost: a lock for each.
  [[nodiscard]] bool runs_handler() noexcept { return running() != nullptr; }
  /// @return the client that does; null: none.  Cost: as runs_handler().
  [[nodiscard]] Client* running() noexcept;

  /// Blocks in the kernel until something comes for a client of this thread, or @p done (may be
  /// empty) says so, or the time is over (negative: no limit): see shm::sleep(). @p held, if given:
  /// the locks that the caller must not hold in the kernel.  Returns early whenever in doubt.
  ///
  /// Call from   a wait of @p self that has polled, served the others, and found nothing.
  void block(Client& self, std::int64_t timeout_ns, const std::function<bool()>& done,
             SleepLocks* held = nullptr) noexcept;

 private:
  class Sleepers;
  void count_clients() noexcept;
  [[nodiscard]] Client* take(std::size_t& at, const Client* self,
                             bool* used_elsewhere = nullptr) noexcept;
  Outcome serve_but(const Client* self, Run run, bool asked) noexcept;
  [[nodiscard]] bool ask() noexcept;
  [[nodiscard]] static bool is_this_thread(std::uintptr_t thread) noexcept;
  void return_to_sender(Client& client) noexcept;
  [[nodiscard]] static bool stays_hot(Client& client, std::uint32_t handled) noexcept;

  Job& job_;
  AtomicWord<std::uint64_t>& attention_;
  AtomicWord<bool> keeps_attention_ = false;
  std::mutex mutex_;
  std::vector<Client*> clients_;
  AtomicWord<std::uint32_t> count_ = 0;
  AtomicWord<std::uint32_t> passive_ = 0;
  AtomicWord<std::uintptr_t> watcher_ = 0;          // a thread
  AtomicWord<std::uintptr_t> function_thread_ = 0;  // that runs a function
  std::uint32_t functions_ = 0;                     // that thread's: how many, one in another
};

}  // namespace viaduct::via::channel
