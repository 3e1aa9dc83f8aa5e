#pragma once
/// @file
/// The process' part of AM-2: its job, the tables of handles, the lock.
///
/// While the process has one thread, calls take no lock, and bundles of Active Messages are
/// sequential. The first call of a process of several makes them parallel, for good: from then on
/// each call takes their lock (bundle.hpp), and cold calls take it here.

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "am/c/src/port.hpp"
#include "runtime/single_thread.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"

namespace viaduct::am::c {

/// The message whose handler runs in this thread (an am::Token), or kReturning; null: none does.
extern constinit thread_local void* current [[gnu::tls_model("initial-exec")]];
/// The argument of handler 0 while that handler runs.
extern constinit thread_local AM_ArgBlock* returned_block [[gnu::tls_model("initial-exec")]];
/// `current` while handler 0 runs.
[[nodiscard]] void* returning_mark() noexcept;
[[nodiscard]] inline bool is_in_handler() noexcept { return current != nullptr; }

/// A handler's call in which other handlers may run: `current` is the same behind it.
class Nested {
 public:
  Nested() noexcept : outer_(current) {}
  ~Nested() { current = outer_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  void* outer_;
};

/// One for each process, never destroyed.
struct Library {
  std::unique_ptr<Job> job;
  std::unique_ptr<Context> context;
  std::vector<std::unique_ptr<Bundle>> bundles;  // all that were made
  std::vector<Bundle*> free_bundles;
  Table<viaduct_am_bundle, 4096> bundle_table;
  Table<viaduct_am_endpoint, 16384> endpoint_table;
  unsigned initialised = 0;               // AM_Init without its AM_Terminate
  bool ended = false;                     // the process is ending
  Port* spmd = nullptr;                   // the endpoint of AMX_SPMDStartup
  std::vector<int> threads_of_libraries;  // which began while the job and the context were made
};
[[nodiscard]] Library& library() noexcept;

/// Places that no program's handle names.
extern constinit viaduct_am_endpoint no_endpoint;
extern constinit viaduct_am_bundle no_bundle;

/// The objects that the last call has found, kept for the next one while the process has one
/// thread. No handle here is null.
struct Hot {
  ep_t endpoint = &no_endpoint;
  ep_t alone = &no_endpoint;  // the same where its bundle has no other one
  Port* port = nullptr;
  eb_t bundle = &no_bundle;  // with one endpoint
};
extern constinit Hot hot;
/// The places that the thread's last calls have named, once the process has several: they need no
/// comparison with the tables' bounds. Good for as long as no endpoint of an AM_SEQ bundle gets
/// another thread's waits to serve it.
struct LastPlaces {
  ep_t endpoint;             // never null
  eb_t bundle;               // never null
  std::uint64_t homes_seen;  // homes_changed before they were looked at
};
extern constinit thread_local LastPlaces last_places [[gnu::tls_model("initial-exec")]];
/// Counts bring_home() of AM_SEQ bundles, and enter_home().
extern constinit std::atomic<std::uint64_t> homes_changed;
/// The thread's last places, for one that was looked at when homes_changed was @p homes.
LastPlaces& places_at(std::uint64_t homes) noexcept;
/// Whether the thread's last calls have named @p handle, and nothing is to be looked at again.
[[nodiscard]] inline bool is_last(ep_t handle) noexcept {
  return handle == last_places.endpoint &&
         last_places.homes_seen == homes_changed.load(std::memory_order_relaxed);
}
[[nodiscard]] inline bool is_last(eb_t handle) noexcept {
  return handle == last_places.bundle &&
         last_places.homes_seen == homes_changed.load(std::memory_order_relaxed);
}

/// The endpoint of a handle, or null.  Cost: three loads.
[[nodiscard]] Port* find_slow(ep_t handle) noexcept;
[[nodiscard]] inline Port* find(ep_t handle) noexcept {
  if (is_single_threaded()) [[likely]] {
    if (handle == hot.endpoint) [[likely]]
      return hot.port;
  } else if (is_last(handle)) {
    return handle->port.load();
  }
  return find_slow(handle);
}
/// The bundle of a handle, or null.
[[nodiscard]] viaduct_am_bundle* find(eb_t handle) noexcept;

/// The first call after the process has got its second thread makes bundles of Active Messages
/// parallel ones; the others find that done.
void widen() noexcept;
/// Whether bundles of Active Messages are parallel ones now.
[[nodiscard]] bool is_widened() noexcept;

/// The result of a call whose handle names no object.
[[nodiscard]] int no_object() noexcept;

/// Holds the lock of the process' bundles, once it has several threads. Not across waits.
class Cold {
 public:
  Cold() noexcept;
  ~Cold();
  Cold(const Cold&) = delete;
  Cold& operator=(const Cold&) = delete;

 private:
  Context* context_ = nullptr;
  const Nested nested_;
};

/// A call on an endpoint that may wait, outside handlers. In a process with several threads the
/// call is counted in the endpoint's place, so that no other thread destroys the endpoint before
/// the call returns. Of a count and a null Port, either this thread or the other one sees the
/// other's store.  Cost: two locked instructions; none in a process with one thread.
class Call {
 public:
  explicit Call(ep_t handle) noexcept {
    if (is_single_threaded()) [[likely]]
      port_ = find(handle);
    else
      enter(handle);
  }
  ~Call() {
    if (place_ != nullptr) [[unlikely]]
      leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// @return null: there is no such endpoint, or another thread is about to destroy it.
  [[nodiscard]] Port* port() const noexcept { return port_; }

 private:
  void enter(ep_t handle) noexcept;
  void leave() noexcept;

  Port* port_ = nullptr;
  ep_t place_ = nullptr;
};

/// The waits of this thread, and of no other one, serve the endpoints of @p bundle from now on: of
/// a bundle in which this thread waits, or of kind AM_SEQ that this thread uses.
void bring_home(viaduct_am_bundle& bundle) noexcept;
/// Handles the messages that have arrived at the endpoints of @p bundle.
void poll_all(viaduct_am_bundle& bundle) noexcept;
/// The same for all that peers of this host have sent before a barrier that has opened.
void catch_up(viaduct_am_bundle& bundle) noexcept;
/// poll_all() for the bundle of @p port, as a request does. The requests of a process with several
/// threads poll their own endpoint's messages themselves, under the same lock.
[[gnu::noinline]] void poll_home_now(Port& port) noexcept;
inline void poll_home(Port& port) noexcept {
  if (!port.alone.load(std::memory_order_relaxed) ||
      (is_single_threaded() && port.bundle().looks_busy())) [[unlikely]]
    poll_home_now(port);
}

/// Frees an endpoint; the lock is held. False: another thread is in a call on the endpoint, or in a
/// handler of it that waits for room for its reply. The waits of the calls then end; the caller
/// tries again when they have (free_when_left()).
[[nodiscard]] bool try_destroy(Port& port) noexcept;
/// Puts @p port at the end of the list of @p home; the lock is held.
void enter_home(Port& port, viaduct_am_bundle& home) noexcept;
/// Takes @p port out of its bundle's list; the lock is held.
void leave_home(Port& port) noexcept;

/// Whether a handler of the endpoint waits in another thread for room for its reply. A call that
/// changes or frees the endpoint lets go of the lock, and waits for the handler's end; a call of a
/// handler does not wait. The lock is held.
[[nodiscard]] bool is_busy_elsewhere(Port& port) noexcept;
/// Blocks for a moment. The lock is not held.
void give_way() noexcept;

/// What a call that frees objects has come to.
struct Freeing {
  int result = AM_OK;
  Port* busy = nullptr;  // an endpoint that try_destroy() has not freed
};
/// Waits for a moment, or until no call is in the endpoint at @p place, which has @p bundle to
/// itself. Handles replies meanwhile. The lock is not held.
void await_calls(const viaduct_am_endpoint& place, Bundle& bundle) noexcept;
/// A call that frees objects, outside handlers. @p body does so with the lock held, again and again
/// until it finds no endpoint busy.
template <class Body>
int free_when_left(Body body) noexcept {
  for (;;) {
    ep_t place = nullptr;
    Bundle* bundle = nullptr;
    {
      const Cold cold;
      const Freeing freeing = body();
      if (freeing.busy == nullptr) return freeing.result;
      place = freeing.busy->handle;
      bundle = &freeing.busy->bundle();
    }
    await_calls(*place, *bundle);
  }
}

/// A cold call on an endpoint: takes the lock, finds the endpoint, and answers AM_ERR_RESOURCE for
/// an exception.
template <class Body>
int with_endpoint(ep_t ea, Body body) noexcept {
  for (;; give_way()) {
    const Cold cold;
    Port* const port = find(ea);
    if (port == nullptr) return no_object();
    if (is_busy_elsewhere(*port)) continue;
    try {
      return body(*port);
    } catch (const std::exception&) {
      return AM_ERR_RESOURCE;
    }
  }
}

}  // namespace viaduct::am::c
