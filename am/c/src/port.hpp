#pragma once
/// @file
/// The objects that the handles of AM-2 name. A handle is the address of a slot in one of two
/// tables. An endpoint's slot leads to an endpoint of Active Messages.
///
/// Each endpoint of AM-2 has a bundle of Active Messages to itself, and a bundle of AM-2 is a list
/// of endpoints. So an endpoint moves between bundles with its connections and all that is under
/// way.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "am/c/am.h"
#include "viaduct/am/endpoint.hpp"

namespace viaduct::am::c {

class Port;

inline constexpr std::uint32_t kMaxHandlers = AM_MaxNumHandlers();
inline constexpr std::uint32_t kMaxTranslations = 65536;

/// Whether a message may name @p handler: 1 to 255.
[[nodiscard]] inline bool is_handler(handler_t handler) noexcept {
  return static_cast<std::uint32_t>(handler) - 1 < kMaxHandlers - 1;
}

}  // namespace viaduct::am::c

/// A place of the table of bundles.
struct alignas(64) viaduct_am_bundle {
  viaduct::am::c::Port* first = nullptr;  // endpoints
  // The bundle of Active Messages to poll, where there is one endpoint. Bundles of Active Messages
  // last as long as the process.
  std::atomic<viaduct::am::Bundle*> alone{nullptr};
  bool is_alive = false;
  int type = AM_SEQ;
  std::atomic<int> mask{AM_NOEVENTS};
  // A handler has run since AM_WaitSema has looked, or, in a process with one thread, AM_Poll.
  std::atomic<bool> event{false};
};

/// A place of the table of endpoints.
struct alignas(64) viaduct_am_endpoint {
  std::atomic<viaduct::am::c::Port*> port{nullptr};  // null: free
  /// Of the endpoint that is or was here. A short call goes behind its gate before it looks at the
  /// endpoint, which no other thread then destroys.
  std::atomic<viaduct::am::Bundle*> bundle{nullptr};
  std::atomic<std::uint32_t> calls{0};  // that are counted (class Call)
};

namespace viaduct::am::c {

/// A table whose places are given out in turn: a place is free for a long time before it is used
/// again. Static storage: no handle, however wrong, leads elsewhere.
template <class Slot, std::size_t Count>
struct Table {
  /// The place that @p handle names, or null.  Cost: one comparison.
  [[nodiscard]] Slot* find(Slot* handle) noexcept {
    static_assert(sizeof(Slot) == 64);
    const std::uint64_t at =
        reinterpret_cast<std::uint64_t>(handle) - reinterpret_cast<std::uint64_t>(places.data());
    return std::rotr(at, 6) < Count ? handle : nullptr;
  }
  /// A place for which @p is_free holds, or null.
  template <class IsFree>
  [[nodiscard]] Slot* allocate(IsFree is_free) noexcept {
    for (std::size_t tried = 0; tried < Count; ++tried) {
      Slot& slot = places[next];
      next = (next + 1) % Count;
      if (is_free(slot)) return &slot;
    }
    return nullptr;
  }

  std::array<Slot, Count> places{};
  std::size_t next = 0;
};

/// The arguments of a handler of AM-2: ints, and data or none.
struct alignas(2) Shape {  // aligned, so that clang reads both with one load
  std::uint8_t arguments = 0;
  bool has_data = false;
};

/// An endpoint of Active Messages with the handler table of AM-2.
class Port final : public Endpoint {
 public:
  /// Throws Error.
  Port(Bundle& bundle, viaduct_am_bundle& home, ep_t handle, std::int32_t number);

  /// @return the handler, null where there is none.  Cost: a load.
  [[nodiscard]] AM_Handler handler(std::uint32_t at) const noexcept {
    return at < kMaxHandlers ? handlers_[at].load(std::memory_order_relaxed) : nullptr;
  }
  void set_handler(std::uint32_t at, AM_Handler handler) noexcept {
    if (at == 0) return on_returned_.store(handler, std::memory_order_relaxed);
    declared_[at].store(nullptr, std::memory_order_relaxed);
    handlers_[at].store(handler, std::memory_order_relaxed);
  }
  /// The same for a handler with declared arguments. handler() answers null for it, so that other
  /// handlers pay nothing for the comparison.
  void declare_handler(std::uint32_t at, AM_Handler handler, Shape shape) noexcept {
    handlers_[at].store(nullptr, std::memory_order_relaxed);
    shapes_[at].store(shape, std::memory_order_relaxed);
    declared_[at].store(handler, std::memory_order_release);
  }
  /// @return the handler with declared arguments, null where there is none.
  [[nodiscard]] AM_Handler declared(std::uint32_t at) const noexcept {
    return at < kMaxHandlers ? declared_[at].load(std::memory_order_acquire) : nullptr;
  }
  /// @return whether that one takes messages of @p shape.
  [[nodiscard]] bool takes_shape(std::uint32_t at, Shape shape) const noexcept {
    const Shape taken = shapes_[at].load(std::memory_order_relaxed);
    return taken.arguments == shape.arguments && taken.has_data == shape.has_data;
  }
  /// Tells handler 0 of a message that came back. Without one the program is stopped.
  void returned(const Returned& returned) noexcept;

  [[nodiscard]] bool is_index(int index) const noexcept {
    return static_cast<std::uint32_t>(index) < translations;
  }
  /// A handler of the endpoint runs: AM_WaitSema is not to wait on.
  void tell_event() noexcept {
    home.load(std::memory_order_relaxed)->event.store(true, std::memory_order_relaxed);
  }

  Port* next = nullptr;  // in its bundle
  std::atomic<bool> alone{true};
  std::uint32_t translations = 0;
  std::uint32_t handlers = kMaxHandlers;
  std::atomic<viaduct_am_bundle*> home;
  ep_t handle;
  en_t name_in_c{};

 private:
  // The first is null: handler 0 is no handler of messages.
  std::array<std::atomic<AM_Handler>, kMaxHandlers> handlers_{};
  std::array<std::atomic<AM_Handler>, kMaxHandlers> declared_{};
  std::array<std::atomic<Shape>, kMaxHandlers> shapes_{};
  std::atomic<AM_Handler> on_returned_{nullptr};
};

/// What a name has instead of the rank in a job of one process: a number of the process, so that no
/// process that was started by itself takes another one's name for its own. 0 in other jobs.
extern constinit std::uint32_t name_of_rank_0;

/// The name as C programs have it, and back. A program may make one up with the rank itself.
[[nodiscard]] inline en_t to_c(EndpointName name) noexcept {
  return {static_cast<std::uint32_t>(index(name.rank)) | name_of_rank_0, name.number};
}
[[nodiscard]] inline bool is_name(const en_t& name) noexcept { return name.port <= 0xffff; }
[[nodiscard]] inline EndpointName from_c(const en_t& name) noexcept {
  return {Rank{name.ip_addr == name_of_rank_0 ? 0 : name.ip_addr},
          static_cast<std::uint16_t>(name.port)};
}

}  // namespace viaduct::am::c
