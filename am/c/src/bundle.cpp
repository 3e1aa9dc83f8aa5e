/// Bundles: set-up, polling, events.

#include <unistd.h>

#include "am/c/src/short_way.hpp"

namespace viaduct::am::c {
namespace {

/// A cold call on a bundle, as with_endpoint().
template <class Body>
int with_bundle(eb_t handle, Body body) noexcept {
  const Cold cold;
  viaduct_am_bundle* const bundle = find(handle);
  return bundle == nullptr ? no_object() : body(*bundle);
}

[[gnu::noinline]] int poll_slow(eb_t handle) noexcept {
  if (is_in_handler()) return AM_ERR_IN_USE;
  if (!viaduct::is_single_threaded()) widen();
  viaduct_am_bundle* const bundle = find(handle);
  if (bundle == nullptr) return no_object();
  if (!viaduct::is_single_threaded()) {
    const std::uint64_t homes = homes_changed.load(std::memory_order_relaxed);
    const auto* const alone = bundle->alone.load(std::memory_order_acquire);
    const bool here = alone != nullptr && viaduct::am::detail::ShortWay::is_home(*alone);
    if (bundle->type == AM_SEQ && !here) bring_home(*bundle);
    places_at(homes).bundle = handle;
  } else if (bundle->alone.load(std::memory_order_relaxed) != nullptr) {
    hot.bundle = handle;
  }
  poll_all(*bundle);
  if (viaduct::is_single_threaded()) bundle->event.store(false, std::memory_order_relaxed);
  return AM_OK;
}
/// AM_Poll in a process with several threads, where the bundle may have got other endpoints.
[[gnu::noinline]] int poll_among_threads(eb_t handle) noexcept {
  if (!is_last(handle) || is_in_handler()) return poll_slow(handle);
  auto* const alone = handle->alone.load(std::memory_order_acquire);
  if (alone == nullptr) return poll_slow(handle);
  viaduct::am::detail::ShortWay::poll_shared(*alone);
  return AM_OK;
}

/// Whether AM_WaitSema may return: a handler has run, or AM_Poll would handle something. The waits
/// of this thread serve all endpoints of the bundle from now on, whichever thread has made them.
bool has_event(viaduct_am_bundle& bundle) noexcept {
  const Cold cold;
  if (!bundle.is_alive || bundle.first == nullptr) return true;
  bring_home(bundle);
  for (Port* port = bundle.first; port != nullptr; port = port->next)
    if (!is_busy_elsewhere(*port) && port->bundle().has_pending()) return true;
  return bundle.event.load(std::memory_order_relaxed);
}

/// Waits until another thread has put an endpoint into the bundle, or has freed it.
void await_endpoint(viaduct_am_bundle& bundle) noexcept {
  constexpr useconds_t kLookUs = 1000;
  for (;;) {
    {
      const Cold cold;
      if (!bundle.is_alive || bundle.first != nullptr) return;
    }
    ::usleep(kLookUs);
  }
}

}  // namespace
}  // namespace viaduct::am::c

using namespace viaduct::am::c;

extern "C" {

int AM_AllocateBundle(int type, eb_t* endb) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  const Cold cold;
  Library& lib = library();
  if (lib.initialised == 0) return AM_ERR_NOT_INIT;
  if ((type != AM_SEQ && type != AM_PAR) || endb == nullptr) return AM_ERR_BAD_ARG;
  viaduct_am_bundle* const slot =
      lib.bundle_table.allocate([](const viaduct_am_bundle& s) { return !s.is_alive; });
  if (slot == nullptr) return AM_ERR_RESOURCE;
  slot->is_alive = true;
  slot->type = type;
  slot->mask.store(AM_NOEVENTS);
  slot->event.store(false);
  slot->first = nullptr;
  *endb = slot;
  return AM_OK;
}

int AM_FreeBundle(eb_t handle) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  return free_when_left([handle]() -> Freeing {
    viaduct_am_bundle* const bundle = find(handle);
    if (bundle == nullptr) return {no_object()};
    Port* busy = nullptr;
    for (Port *port = bundle->first, *next = nullptr; port != nullptr; port = next) {
      next = port->next;
      if (!try_destroy(*port)) busy = port;
    }
    if (busy == nullptr) bundle->is_alive = false;
    return {AM_OK, busy};
  });
}

int AM_Poll(eb_t handle) {
  if (!viaduct::is_single_threaded()) return poll_among_threads(handle);
  if (handle != hot.bundle || is_in_handler()) [[unlikely]]
    return poll_slow(handle);
  (void)handle->alone.load(std::memory_order_relaxed)->poll();
  handle->event.store(false, std::memory_order_relaxed);
  return AM_OK;
}

int AM_SetEventMask(eb_t handle, int mask) {
  return with_bundle(handle, [&](viaduct_am_bundle& bundle) -> int {
    if (mask != AM_NOEVENTS && mask != AM_NOTEMPTY) return AM_ERR_BAD_ARG;
    bundle.mask.store(mask);
    return AM_OK;
  });
}

int(AM_GetEventMask)(eb_t handle, int* mask) {
  return with_bundle(handle, [&](viaduct_am_bundle& bundle) -> int {
    if (mask == nullptr) return AM_ERR_BAD_ARG;
    *mask = bundle.mask.load();
    return AM_OK;
  });
}

int viaduct_am_event_mask(eb_t handle) {
  int mask = -1;
  return (AM_GetEventMask)(handle, &mask) == AM_OK ? mask : -1;
}

int AM_WaitSema(eb_t handle) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  viaduct_am_bundle* bundle = nullptr;
  viaduct::am::Bundle* first = nullptr;  // never destroyed before the process' end
  const int result = with_bundle(handle, [&](viaduct_am_bundle& found) -> int {
    if (found.mask.load() == AM_NOEVENTS) return AM_ERR_RESOURCE;
    if (found.first == nullptr) {
      if (viaduct::is_single_threaded()) return AM_ERR_RESOURCE;
      bundle = &found;
      return AM_OK;
    }
    // Handlers that have run in the poll of a request count as events, too.
    if (found.event.exchange(false)) return AM_OK;
    bundle = &found;
    first = &found.first->bundle();
    return AM_OK;
  });
  if (bundle == nullptr) return result;
  if (first == nullptr) {
    await_endpoint(*bundle);
    return AM_WaitSema(handle);
  }
  // The bundle's other endpoints: by the wait's own serving of the thread.
  (void)first->wait_pending([bundle] { return has_event(*bundle); });
  // Other threads may wait for the same event.
  if (viaduct::is_single_threaded()) bundle->event.store(false, std::memory_order_relaxed);
  // Another thread may have freed the bundle.
  return with_bundle(handle, [](viaduct_am_bundle&) { return AM_OK; });
}

int AM_Wait(eb_t handle) { return AM_WaitSema(handle); }

}  // extern "C"
