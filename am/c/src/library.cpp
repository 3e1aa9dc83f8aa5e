#include "am/c/src/library.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "am/c/src/short_way.hpp"
#include "am/c/underneath.hpp"
#include "am/src/arguments.hpp"
#include "am/src/bundle_wait.hpp"
#include "am/src/context_shared.hpp"
#include "runtime/job_end.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/job_page.hpp"
#include "viaduct/runtime/log.hpp"

bool viaduct::am::detail::ShortWay::is_home(const Bundle& bundle) noexcept {
  return bundle.served_->is_home();
}
bool viaduct::am::detail::ShortWay::bring_home(Bundle& bundle) noexcept {
  if (is_home(bundle)) return false;
  bundle.served_->take_over();
  return true;
}
bool viaduct::am::detail::ShortWay::is_in(const Bundle& bundle) noexcept {
  return bundle.user_.load(kRelaxed) == std::uintptr_t{::pthread_self()};
}
void viaduct::am::detail::ShortWay::join(Bundle& bundle, const void* family) noexcept {
  bundle.served_->join(family);
}
bool viaduct::am::detail::ShortWay::is_busy_elsewhere(const Bundle& bundle) noexcept {
  const SharedCalls* const calls = bundle.calls_;  // a process with one thread does not hold it
  return calls != nullptr && calls->is_held() && SharedCalls::is_parked_elsewhere(bundle.gate_);
}
void viaduct::am::detail::ShortWay::poll_unless_busy(Bundle& bundle) noexcept {
  const CallsLock lock(*bundle.calls_);
  if (!bundle.dispatcher_.runs_handler()) (void)bundle.poll_long(Bundle::Run::all);
}

viaduct::Status viaduct::am::detail::ShortWay::refuse_length(Token& token, std::size_t bytes,
                                                             std::size_t most,
                                                             const char* limit) noexcept {
  EndpointCore& core = core_of(token.map_);
  if (core.bundle.job().in_forked_child()) core.bundle.stop_caller("a reply");
  const Bundle::Exclusive exclusive(core.bundle);
  (void)token.take_back_refusal();
  token.refuse_reply();
  return Refusal::reply_length(core, bytes, most, limit);
}

void viaduct::am::detail::ShortWay::catch_up(Bundle& bundle) noexcept { bundle.catch_up(); }
void viaduct::am::detail::ShortWay::end_waits(Endpoint& endpoint) noexcept {
  EndpointCore::of(endpoint).ends_waits.store(1, kRelaxed);
}
void viaduct::am::detail::ShortWay::disconnect(Endpoint& endpoint) noexcept {
  end_waits(endpoint);
  EndpointCore::of(endpoint).disconnect();
}

namespace viaduct::am::c {

using detail::ShortWay;

constinit thread_local void* current [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local AM_ArgBlock* returned_block [[gnu::tls_model("initial-exec")]] = nullptr;
constinit viaduct_am_endpoint no_endpoint;
constinit viaduct_am_bundle no_bundle;
constinit Hot hot;
constinit thread_local LastPlaces last_places
    [[gnu::tls_model("initial-exec")]] = {&no_endpoint, &no_bundle, 0};
constinit std::atomic<std::uint64_t> homes_changed{0};

Library& library() noexcept {
  static Library* const instance = new Library;
  return *instance;
}

void* returning_mark() noexcept {
  static char mark;
  return &mark;
}

namespace {

std::mutex initialising;  // before the lock, which there is from the first AM_Init on
std::mutex widening;
std::atomic<bool> is_wide{false};  // bundles are parallel

}  // namespace

void widen() noexcept {
  // A call that has begun with one thread goes on in sequential bundles.
  if (is_wide.load(std::memory_order_acquire) || is_in_handler()) return;
  const auto& bundles = library().bundles;
  if (std::any_of(bundles.begin(), bundles.end(),
                  [](const auto& b) { return ShortWay::is_in(*b); }))
    return;
  const std::lock_guard lock(widening);
  if (is_wide.load(std::memory_order_relaxed)) return;
  for (const auto& bundle : bundles) {
    bundle->make_parallel();
    bundle->set_poll_every(1);
  }
  hot = {};
  is_wide.store(true, std::memory_order_release);
}

namespace {

/// The kernel's numbers of the process' threads. Empty: the kernel does not tell.
std::vector<int> threads_now() noexcept {
  std::vector<int> threads;
  try {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task"))
      threads.push_back(std::atoi(thread.path().filename().c_str()));
  } catch (const std::exception&) {
    threads.clear();
  }
  return threads;
}

bool holds(const std::vector<int>& threads, int thread) noexcept {
  return std::find(threads.begin(), threads.end(), thread) != threads.end();
}

/// Whether other threads of the program may be in calls. Those of libraries (PMIx, a device's) are
/// never: they began with the job.
bool has_threads() noexcept {
  if (viaduct::is_single_threaded()) return false;
  const std::vector<int> threads = threads_now();
  return threads.empty() || std::any_of(threads.begin(), threads.end(), [](int thread) {
           return thread != ::gettid() && !holds(library().threads_of_libraries, thread);
         });
}

RankRecord& own_record() noexcept {
  Job& job = *library().job;
  return job.record(job.rank());
}

/// Takes @p port from its handle; the lock is held. Answers false, and the handle keeps it, where
/// @p is_in_use; the waits of calls on the endpoint then end.
template <class IsInUse>
bool try_take(Port& port, IsInUse is_in_use) noexcept {
  port.handle->port.store(nullptr);  // before the look: a later call does not find the endpoint
  if (!is_in_use(port)) return true;
  port.handle->port.store(&port);
  ShortWay::end_waits(port);
  ring_doorbell(own_record());
  return false;
}

/// Frees all endpoints and bundles; the lock is held. Answers an endpoint that is busy, else null:
/// all have gone.
Port* try_destroy_all() noexcept {
  Library& lib = library();
  Port* busy = nullptr;
  for (viaduct_am_endpoint& slot : lib.endpoint_table.places)
    if (Port* const port = slot.port.load(); port != nullptr && !try_destroy(*port)) busy = port;
  if (busy != nullptr) return busy;
  for (viaduct_am_bundle& slot : lib.bundle_table.places) slot.is_alive = false;
  lib.spmd = nullptr;
  hot = {};
  return nullptr;
}

/// Ends the connections of all endpoints, whose memory stays: other threads, and the frames below a
/// handler that has called exit(), may use them still. The lock is held. Answers false while a
/// handler of another thread waits in an endpoint.
bool try_disconnect_all() noexcept {
  Library& lib = library();
  bool is_done = true;
  for (viaduct_am_endpoint& slot : lib.endpoint_table.places) {
    Port* const port = slot.port.load();
    if (port == nullptr) continue;
    const auto is_in_use = [](Port& its) { return ShortWay::is_busy_elsewhere(its.bundle()); };
    if (try_take(*port, is_in_use))
      ShortWay::disconnect(*port);
    else
      is_done = false;
  }
  if (!is_done) return false;
  for (viaduct_am_bundle& slot : lib.bundle_table.places) {
    slot.is_alive = false;
    slot.first = nullptr;
    slot.alone.store(nullptr);
  }
  lib.spmd = nullptr;
  hot = {};
  ring_doorbell(own_record());  // calls that wait have ended
  return true;
}

/// Ends all endpoints for their peers, and for other threads, whose calls answer errors from then
/// on. Answers false if a handler of another thread waits for a second.
bool leave_peers() noexcept {
  constexpr std::uint64_t kMostNs = 1'000'000'000;
  const std::uint64_t begin = monotonic_ns();
  for (;; give_way()) {
    {
      const Cold cold;
      library().initialised = 0;
      if (try_disconnect_all()) return true;
    }
    if (monotonic_ns() - begin > kMostNs) return false;
  }
}

/// At exit(): the Job's end waits for all ranks, as a launcher wants it. A process that has failed
/// ends at once, and is lost to the other ranks. Where other threads go on, or a handler has called
/// exit(), the objects stay in memory: messages to the process come back until the others end, too.
void at_exit(int status, void* /*unused*/) noexcept {
  Library& lib = library();
  if (std::exchange(lib.ended, true)) return;  // registered twice
  if (lib.job == nullptr || lib.job->in_forked_child() || status != 0) return;
  if (is_in_handler() || has_threads()) {
    if (!leave_peers()) return;
    JobEnd::await_all(*lib.job, [&lib] {
      const Cold cold;
      if (lib.context != nullptr) lib.context->nic().progress();
    });
    JobEnd::finalize(*lib.job);
    return;
  }
  (void)try_destroy_all();  // no thread is in any
  lib.free_bundles.clear();
  lib.bundles.clear();
  lib.context.reset();
  lib.job.reset();
}

/// No job has so many ranks.
constexpr std::uint32_t kNoRank = std::uint32_t{1} << 31;

int start() noexcept {
  Library& lib = library();
  if (lib.ended) return AM_ERR_RESOURCE;
  try {
    const std::vector<int> before = threads_now();
    if (lib.job == nullptr) {
      lib.job = std::make_unique<Job>();
      if (lib.job->size() == 1) name_of_rank_0 = kNoRank | static_cast<std::uint32_t>(::getpid());
      static const int registered = on_exit(at_exit, nullptr);
      (void)registered;
    }
    if (lib.context == nullptr) {
      lib.context = std::make_unique<Context>(*lib.job);
      // Once more: what is registered last runs first, before a library that the context has loaded
      // (a device's) destroys its own objects.
      static const int registered = on_exit(at_exit, nullptr);
      (void)registered;
    }
    for (const int thread : threads_now())
      if (!holds(before, thread)) lib.threads_of_libraries.push_back(thread);
  } catch (const std::exception& e) {
    const Log log(LogLevel::error, 0, 1);
    log.write(LogLevel::error, std::string("AM_Init: ") + e.what());
    return AM_ERR_RESOURCE;
  }
  return AM_OK;
}

}  // namespace

constinit std::uint32_t name_of_rank_0 = 0;

Cold::Cold() noexcept {
  if (viaduct::is_single_threaded()) return;
  widen();
  Library& lib = library();
  if (lib.context == nullptr) return;
  context_ = lib.context.get();
  context_->lock_calls();
}

Cold::~Cold() {
  if (context_ != nullptr) context_->unlock_calls();
}

LastPlaces& places_at(std::uint64_t homes) noexcept {
  if (last_places.homes_seen != homes) last_places = {&no_endpoint, &no_bundle, homes};
  return last_places;
}

Port* find_slow(ep_t handle) noexcept {
  if (!viaduct::is_single_threaded()) widen();
  viaduct_am_endpoint* const slot = library().endpoint_table.find(handle);
  Port* const port = slot == nullptr ? nullptr : slot->port.load();
  if (port == nullptr) return nullptr;
  if (viaduct::is_single_threaded()) {
    hot.endpoint = handle;
    hot.port = port;
    hot.alone = port->alone.load(std::memory_order_relaxed) ? handle : &no_endpoint;
  } else {
    const std::uint64_t homes = homes_changed.load(std::memory_order_relaxed);
    viaduct_am_bundle& home = *port->home.load(std::memory_order_relaxed);
    const bool is_here = home.type != AM_SEQ || ShortWay::is_home(port->bundle());
    if (!is_here && is_in_handler()) return port;
    if (!is_here) bring_home(home);
    places_at(homes).endpoint = handle;
  }
  return port;
}

void bring_home(viaduct_am_bundle& bundle) noexcept {
  const Cold cold;
  bool has_come = false;
  for (Port* port = bundle.first; port != nullptr; port = port->next)
    if (ShortWay::bring_home(port->bundle())) has_come = true;
  if (has_come && bundle.type == AM_SEQ) homes_changed.fetch_add(1);
}

viaduct_am_bundle* find(eb_t handle) noexcept {
  viaduct_am_bundle* const slot = library().bundle_table.find(handle);
  return slot != nullptr && slot->is_alive ? slot : nullptr;
}

int no_object() noexcept { return library().initialised == 0 ? AM_ERR_NOT_INIT : AM_ERR_BAD_ARG; }

bool is_busy_elsewhere(Port& port) noexcept {
  return !viaduct::is_single_threaded() && !is_in_handler() &&
         ShortWay::is_busy_elsewhere(port.bundle());
}

void give_way() noexcept {
  constexpr useconds_t kAWhileUs = 50;
  ::usleep(kAWhileUs);
}

bool is_widened() noexcept { return is_wide.load(std::memory_order_relaxed); }

Context* underneath() noexcept {
  const Library& lib = library();
  return lib.ended ? nullptr : lib.context.get();
}

void poll_home_now(Port& port) noexcept {
  if (port.alone.load(std::memory_order_relaxed)) [[likely]]
    (void)port.bundle().poll();
  else
    poll_all(*port.home.load(std::memory_order_relaxed));
}

namespace {

/// Handlers may wait, and other threads may change the list meanwhile. So the lock is held for a
/// look at the list alone: bundles of Active Messages last as long as the process.
template <class Poll>
void poll_some_at_a_time(viaduct_am_bundle& bundle, Poll poll) noexcept {
  std::array<Bundle*, 32> some;  // NOLINT: filled below
  for (std::size_t first = 0;; first += some.size()) {
    std::size_t count = 0;
    {
      const Cold cold;
      std::size_t at = 0;
      for (Port* port = bundle.first; port != nullptr && count < some.size(); port = port->next)
        if (at++ >= first) some[count++] = &port->bundle();
    }
    for (std::size_t i = 0; i < count; ++i) poll(*some[i]);
    if (count < some.size()) return;
  }
}

}  // namespace

void poll_all(viaduct_am_bundle& bundle) noexcept {
  if (viaduct::am::Bundle* const alone = bundle.alone.load(std::memory_order_acquire)) {
    (void)alone->poll();
    return;
  }
  if (viaduct::is_single_threaded()) {
    for (Port* port = bundle.first; port != nullptr; port = port->next) (void)port->bundle().poll();
    return;
  }
  poll_some_at_a_time(bundle, ShortWay::poll_unless_busy);
}

void catch_up(viaduct_am_bundle& bundle) noexcept {
  poll_some_at_a_time(bundle, ShortWay::catch_up);
}

namespace {

/// Says to the endpoints of @p home, and to its polls, whether there is one alone.
void count_endpoints(viaduct_am_bundle& home) noexcept {
  Port* const first = home.first;
  const bool alone = first != nullptr && first->next == nullptr;
  home.alone.store(alone ? &first->bundle() : nullptr, std::memory_order_release);
  for (Port* port = first; port != nullptr; port = port->next)
    port->alone.store(alone, std::memory_order_relaxed);
  if (viaduct::is_single_threaded())
    hot = {};
  else
    ring_doorbell(own_record());  // a thread may sleep in AM_WaitSema: it is to watch these, too
}

}  // namespace

void enter_home(Port& port, viaduct_am_bundle& home) noexcept {
  port.home.store(&home);
  ShortWay::join(port.bundle(), home.type == AM_PAR ? &home : nullptr);
  Port** at = &home.first;
  while (*at != nullptr) at = &(*at)->next;
  *at = &port;
  homes_changed.fetch_add(1);
  count_endpoints(home);
}

void leave_home(Port& port) noexcept {
  viaduct_am_bundle& home = *port.home.load(std::memory_order_relaxed);
  Port** at = &home.first;
  while (*at != nullptr && *at != &port) at = &(*at)->next;
  if (*at == &port) *at = port.next;
  port.next = nullptr;
  count_endpoints(home);
}

bool try_destroy(Port& port) noexcept {
  const auto is_in_use = [](Port& its) {
    return its.handle->calls.load() != 0 || is_busy_elsewhere(its);
  };
  if (!try_take(port, is_in_use)) return false;
  Library& lib = library();
  if (lib.spmd == &port) lib.spmd = nullptr;
  leave_home(port);
  Bundle* const bundle = &port.bundle();
  delete &port;
  lib.free_bundles.push_back(bundle);
  return true;
}

void await_calls(const viaduct_am_endpoint& place, Bundle& bundle) noexcept {
  constexpr std::int64_t kAWhileNs = 50'000;
  (void)bundle.wait_pending([&place] { return place.calls.load() == 0; }, kAWhileNs);
  give_way();
}

void Call::enter(ep_t handle) noexcept {
  viaduct_am_endpoint* const place = library().endpoint_table.find(handle);
  if (place == nullptr) return;
  place->calls.fetch_add(1);
  place_ = place;
  Port* const port = find(handle);
  if (port != nullptr && !ShortWay::ends_waits(*port)) port_ = port;
}

void Call::leave() noexcept { place_->calls.fetch_sub(1); }

}  // namespace viaduct::am::c

using namespace viaduct::am::c;

extern "C" {

int AM_Init(void) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  const std::lock_guard lock(initialising);
  const Cold cold;
  Library& lib = library();
  if (lib.initialised == 0)
    if (const int result = start(); result != AM_OK) return result;
  ++lib.initialised;
  return AM_OK;
}

int AM_Terminate(void) {
  if (is_in_handler()) return AM_ERR_IN_USE;
  bool is_last = false;
  return free_when_left([&is_last]() -> Freeing {
    Library& lib = library();
    if (!is_last) {
      if (lib.initialised == 0) return {AM_ERR_NOT_INIT};
      is_last = --lib.initialised == 0;  // at once: calls whose waits end answer AM_ERR_NOT_INIT
    }
    return {AM_OK, is_last ? try_destroy_all() : nullptr};
  });
}

int(AM_MaxShort)(void) { return AM_MaxShort(); }
int(AM_MaxMedium)(void) { return AM_MaxMedium(); }
int(AM_MaxLong)(void) { return AM_MaxLong(); }
int(AM_MaxNumHandlers)(void) { return AM_MaxNumHandlers(); }

}  // extern "C"
