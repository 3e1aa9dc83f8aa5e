#pragma once
/// @file
/// Reads and writes of single values: blocking (read, write) and split-phase (get, put; sync()
/// waits for them). Any trivially copyable type; values of 1, 2, 4 and 8 bytes at their natural
/// alignment are never seen half written. Source: Begel et al. 2001, sections 4.2 and 6.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "viaduct/runtime/prefetch.hpp"
#include "viaduct/splitc/detail/access.hpp"
#include "viaduct/splitc/global_ptr.hpp"
#include "viaduct/splitc/spread_ptr.hpp"

namespace viaduct::splitc {

/// The handle that get(), put() and their like answer: one operation under way, for is_done() and
/// wait(). A handle may be copied, stored, and dropped; dropping it costs nothing. A handle of all
/// zeros is complete.
using Handle = detail::Handle;

template <class T>
concept Value = std::is_trivially_copyable_v<T> && std::is_object_v<T>;
/// A type of objects that may be written to.
template <class T>
concept Variable = Value<T> && !std::is_const_v<T>;

/// The value at @p from.
///
/// Blocks      until the value is here.
/// Progress    a poll point, and a light one (two loads) where the memory is mapped.
/// Order       an acquire load where the memory is mapped: the writer's accesses before its write
///             are seen afterwards. See docs/memory-model.md.
/// Cost        where the memory is mapped, a load and the light poll; else one round trip.
/// Errors      stops the program with a sentence for a null pointer or a process that does not
///             exist; throws Error when that process is lost.
template <Value T>
[[nodiscard]] inline std::remove_cv_t<T> read(global_ptr<T> from,
                                              detail::Here at = detail::here()) {
  at.check("read", from.word(), sizeof(T));
  using V = std::remove_cv_t<T>;
  if constexpr (detail::kIsWord<V>) {
    if (const std::byte* place = detail::aligned_place(from.word())) [[likely]] {
      detail::light_poll();
      return detail::load_word<V>(place);
    }
  }
  return detail::read_value<V>(from.word());
}

/// Writes @p value to @p to.
///
/// Blocks      until the value is there.
/// Order       a release store where the memory is mapped. A later read may be served before other
///             processes see the write (store buffering); write_fenced() rules that out.
/// Otherwise as read().
template <Variable T>
inline void write(global_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  at.check("write", to.word(), sizeof(T));
  if constexpr (detail::kIsWord<T>) {
    if (std::byte* place = detail::aligned_place(to.word())) [[likely]] {
      detail::light_poll();
      detail::store_word<T>(place, value);
      return;
    }
  }
  detail::write_value(to.word(), value);
}

/// write(), and no later access of this process takes effect before it: sequential consistency for
/// programs that use it for all their writes. Cost: a full fence, tens of cycles.
template <Variable T>
inline void write_fenced(global_ptr<T> to, std::type_identity_t<T> value,
                         detail::Here at = detail::here()) {
  at.check("write_fenced", to.word(), sizeof(T));
  std::byte* const place = detail::kIsWord<T> ? detail::aligned_place(to.word()) : nullptr;
  if (place != nullptr) [[likely]] {
    detail::light_poll();
    if constexpr (detail::kIsWord<T>) detail::store_word<T>(place, value);
  } else {
    detail::write_fenced_value(to.word(), value);
  }
  detail::full_fence<detail::Fence::write_fenced>();
}

/// Begins to fetch the value at @p from into @p to, which must stay where it is until the get is
/// complete, and is unspecified until then.  Order: none, with anything, until sync().
/// Blocks: only while requests to that process use up its credits. Otherwise as read().
template <Value T>
inline Handle get(std::type_identity_t<std::remove_cv_t<T>>* to, global_ptr<T> from,
                  detail::Here at = detail::here()) {
  at.check("get", from.word(), sizeof(T));
  using V = std::remove_cv_t<T>;
  if constexpr (detail::kIsWord<V>) {
    if (const std::byte* place = detail::aligned_place(from.word())) [[likely]] {
      detail::light_poll();
      *to = detail::load_word<V>(place);
      return {};
    }
  }
  return detail::get_value<V>(to, from.word());
}

/// Begins to write @p value to @p to. Order: none, with anything, until sync().
template <Variable T>
inline Handle put(global_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  at.check("put", to.word(), sizeof(T));
  if constexpr (detail::kIsWord<T>) {
    if (std::byte* place = detail::aligned_place(to.word())) [[likely]] {
      detail::light_poll();
      detail::store_word<T>(place, value);
      return {};
    }
  }
  return detail::put_value(to.word(), value);
}

/// A hint: begins to fetch the cache line of the object at @p from, so that a later access to it
/// does not wait. Random accesses to large arrays gain from it when they are known some ten
/// accesses ahead.
///
/// Blocks      never; not a poll point.
/// Cost        some instructions. Does nothing where the pointer's word does not tell the place
///             (docs/splitc.md, "Global addresses").
/// Errors      none, for any pointer.
template <class T>
inline void prefetch(global_ptr<T> from) noexcept {
  if (const std::byte* place = detail::aligned_place(from.word())) prefetch_line(place);
}

/// The address in this process of the @p count objects from @p first on, when its own loads and
/// stores reach them: its own objects, and those of others whose memory is mapped. Null: only
/// operations reach them. For loops that work on another process' memory at the speed of plain
/// memory.
///
/// Blocks      never, but the first call for a process maps its memory; no poll point.
/// Progress    none comes from accesses in place: a long loop calls poll() now and then.
/// Order       accesses in place are plain ones of this process (docs/memory-model.md); sync() and
///             other full fences order them too.
/// Cost        some 10 ns. The answer holds until the objects are freed.
/// Errors      as read().
template <class T>
[[nodiscard]] inline T* mapped(global_ptr<T> first, std::size_t count = 1,
                               detail::Here at = detail::here()) {
  using V = std::remove_cv_t<T>;
  auto* const found =
      static_cast<T*>(static_cast<V*>(detail::mapped_objects(first.word(), count, sizeof(V))));
  if (found != nullptr) at.check("mapped", first.word(), detail::bytes_of<T>(count));
  return found;
}

/// The same through a spread pointer. Never waits.
template <class T>
inline void prefetch(spread_ptr<T> from) noexcept {
  prefetch(global_ptr<T>(from));
}
/// The same through a spread pointer. Blocks, polls and costs as above.
template <Value T>
[[nodiscard]] inline std::remove_cv_t<T> read(spread_ptr<T> from,
                                              detail::Here at = detail::here()) {
  return read(global_ptr<T>(from), at);
}
/// The same through a spread pointer. Blocks, polls and costs as above.
template <Variable T>
inline void write(spread_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  write(global_ptr<T>(to), value, at);
}
/// The same through a spread pointer. Blocks, polls and costs as above.
template <Variable T>
inline void write_fenced(spread_ptr<T> to, std::type_identity_t<T> value,
                         detail::Here at = detail::here()) {
  write_fenced(global_ptr<T>(to), value, at);
}
/// The same through a spread pointer. Order: none until sync(), as above.
template <Value T>
inline Handle get(std::type_identity_t<std::remove_cv_t<T>>* to, spread_ptr<T> from,
                  detail::Here at = detail::here()) {
  return get(to, global_ptr<T>(from), at);
}
/// The same through a spread pointer. Order: none until sync(), as above.
template <Variable T>
inline Handle put(spread_ptr<T> to, std::type_identity_t<T> value,
                  detail::Here at = detail::here()) {
  return put(global_ptr<T>(to), value, at);
}

/// Whether the get or put that @p handle came from is complete.  Progress: polls when it is not.
[[nodiscard]] bool is_done(Handle handle);
/// Blocks until the operation that @p handle came from is complete.  Progress: polls meanwhile.
void wait(Handle handle);

/// The type of `*p` and `p[i]`: using a reference as a value reads, assigning to it writes (both
/// block), and `p[i] += v` reads, then writes: not atomically.
template <class T, class Mode>
class global_ref {
 public:
  /// A reference to the object that @p to points to.  Never waits: its use does.
  explicit global_ref(global_ptr<T> to, Mode at = Mode::unknown()) noexcept : to_(to), at_(at) {}
  /// The reference is copied, not the object.  Never waits.
  global_ref(const global_ref&) = default;

  /// Reads the object.  Blocks and costs as read().
  VIADUCT_SPLITC_IN_PLACE operator std::remove_cv_t<T>() const { return read(to_, at_); }
  /// Writes the object.  Blocks and costs as write().
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator=(std::type_identity_t<T> value) const
      requires(!std::is_const_v<T>) {
    write(to_, value, at_);
    return *this;
  }
  /// Writes the value of the other object, not its place.  Blocks as read(), then as write().
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator=(const global_ref& other) const {
    static_assert(!std::is_const_v<T>, "assignment through a pointer to const");
    write(to_, read(other.to_, other.at_), at_);
    return *this;
  }
  /// @return the pointer that the reference was made of.
  [[nodiscard]] global_ptr<T> operator&() const noexcept { return to_; }

  /// Reads, then writes, not atomically.  Blocks as read(), then as write().
  template <class U>
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator+=(U v) const {
    return change([v](T old) { return static_cast<T>(old + v); });
  }
  /// Reads, then writes, not atomically.  Blocks as read(), then as write().
  template <class U>
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator-=(U v) const {
    return change([v](T old) { return static_cast<T>(old - v); });
  }
  /// Reads, then writes, not atomically.  Blocks as read(), then as write().
  template <class U>
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator*=(U v) const {
    return change([v](T old) { return static_cast<T>(old * v); });
  }
  /// Reads, then writes, not atomically.  Blocks as read(), then as write().
  template <class U>
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator/=(U v) const {
    return change([v](T old) { return static_cast<T>(old / v); });
  }
  /// Reads, then writes, not atomically.  Blocks as read(), then as write().
  template <class U>
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator|=(U v) const {
    return change([v](T old) { return static_cast<T>(old | v); });
  }
  /// Reads, then writes, not atomically.  Blocks as read(), then as write().
  template <class U>
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator&=(U v) const {
    return change([v](T old) { return static_cast<T>(old & v); });
  }
  /// Reads, then writes, not atomically.  Blocks as read(), then as write().
  template <class U>
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator^=(U v) const {
    return change([v](T old) { return static_cast<T>(old ^ v); });
  }
  /// Reads, then writes one more, not atomically.  Blocks as read(), then as write().
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator++() const {
    return change([](T value) { return ++value; });
  }
  /// Reads, then writes one less, not atomically.  Blocks as read(), then as write().
  VIADUCT_SPLITC_IN_PLACE const global_ref& operator--() const {
    return change([](T value) { return --value; });
  }
  /// As ++r.  @return the value that was read.
  VIADUCT_SPLITC_IN_PLACE std::remove_cv_t<T> operator++(int) const {
    const auto old = read(to_, at_);
    write(to_, static_cast<T>(old + 1), at_);
    return old;
  }
  /// As --r.  @return the value that was read.
  VIADUCT_SPLITC_IN_PLACE std::remove_cv_t<T> operator--(int) const {
    const auto old = read(to_, at_);
    write(to_, static_cast<T>(old - 1), at_);
    return old;
  }

 private:
  /// Reads and writes. Where memory is mapped the place is looked up once, with one poll point, so
  /// that a processor that waits for memory sees more accesses ahead.
  template <class F>
  VIADUCT_SPLITC_IN_PLACE const global_ref& change(F f) const {
    static_assert(!std::is_const_v<T>, "assignment through a pointer to const");
    at_.check("write", to_.word(), sizeof(T));
    if constexpr (detail::kIsWord<T>) {
      if (std::byte* place = detail::aligned_place(to_.word())) [[likely]] {
        detail::light_poll();
        detail::store_word<T>(place, f(detail::load_word<T>(place)));
        return *this;
      }
    }
    detail::write_value<T>(to_.word(), f(detail::read_value<T>(to_.word())));
    return *this;
  }

  global_ptr<T> to_;
  [[no_unique_address]] Mode at_;
};

}  // namespace viaduct::splitc
