#pragma once
/// @file
/// The process' part of AM-2: its job, the tables of handles, the lock.
///
/// While the process has one thread, calls take no lock, and bundles of Active Messages are
/// sequential. The first call of a process of several makes them parallel, for good: from then on
/// each call takes their lock (bundle.hpp), and cold calls take it here.

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
/// comparison with the tables' bounds.
struct LastPlaces {
  ep_t endpoint;  // never null
  eb_t bundle;    // never null
};
extern constinit thread_local LastPlaces last_places [[gnu::tls_model("initial-exec")]];

/// The endpoint of a handle, or null.  Cost: three loads.
[[nodiscard]] Port* find_slow(ep_t handle) noexcept;
[[nodiscard]] inline Port* find(ep_t handle) noexcept {
  if (is_single_threaded()) [[likely]] {
    if (handle == hot.endpoint) [[likely]]
      return hot.port;
  } else if (handle == last_places.endpoint) {
    return handle->port;
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

/// The waits of this thread, and of no other one, serve the endpoints of @p bundle from now on: of
/// a bundle in which this thread waits, or of kind AM_SEQ that this thread uses.
void bring_home(viaduct_am_bundle& bundle) noexcept;
/// Handles the messages that have arrived at the endpoints of @p bundle.
void poll_all(viaduct_am_bundle& bundle) noexcept;
/// The same for the bundle of @p port, as a request does. The requests of a process with several
/// threads poll their own endpoint's messages themselves, under the same lock.
[[gnu::noinline]] void poll_home_now(Port& port) noexcept;
inline void poll_home(Port& port) noexcept {
  if (!port.alone.load(std::memory_order_relaxed) ||
      (is_single_threaded() && port.bundle().looks_busy())) [[unlikely]]
    poll_home_now(port);
}

/// Frees an endpoint; the lock is held.
void destroy(Port& port) noexcept;
/// Puts @p port at the end of the list of @p home; the lock is held.
void enter_home(Port& port, viaduct_am_bundle& home) noexcept;
/// Takes @p port out of its bundle's list; the lock is held.
void leave_home(Port& port) noexcept;

/// Whether a handler of the endpoint, or of one in the bundle, waits in another thread for room for
/// its reply. A call that changes or frees the endpoint lets go of the lock, and waits for the
/// handler's end; a call of a handler does not wait. The lock is held.
[[nodiscard]] bool is_busy_elsewhere(Port& port) noexcept;
[[nodiscard]] bool is_busy_elsewhere(const viaduct_am_bundle& bundle) noexcept;
/// Blocks for a moment. The lock is not held.
void give_way() noexcept;

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
