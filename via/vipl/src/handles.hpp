#pragma once
/// @file
/// Handles of the C interface: numbers of places in a table, with the generation of the object
/// there, so that a handle that was released, or never was one, is found out. Under the lock.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace viaduct::via::vipl {

enum class HandleKind : std::uint8_t { none, nic, vi, cq, ptag, connection };

class Handles {
 public:
  /// Throws std::bad_alloc.
  [[nodiscard]] void* add(HandleKind kind, void* object) {
    std::uint32_t place = static_cast<std::uint32_t>(places_.size());
    if (free_.empty()) {
      places_.push_back({});
      free_.reserve(places_.size());  // so that remove() needs no memory
    } else {
      place = free_.back();
      free_.pop_back();
    }
    Place& p = places_[place];
    p.object = object;
    p.kind = kind;
    return reinterpret_cast<void*>(std::uint64_t{p.generation} << 32 |
                                   std::uint64_t{place + 1} << 4 |
                                   static_cast<std::uint64_t>(kind));
  }
  /// The object, or null.
  [[nodiscard]] void* find(HandleKind kind, const void* handle) noexcept {
    const Last& last = last_[static_cast<std::size_t>(kind)];
    if (handle == last.handle) [[likely]]
      return last.object;  // of the handle null: null
    void* const object = look_up(kind, handle);
    if (object != nullptr) expect(kind, handle, object);
    return object;
  }
  /// @p handle, which is that of @p object, is likely to be asked for next.  Cost: two stores.
  void expect(HandleKind kind, const void* handle, void* object) noexcept {
    last_[static_cast<std::size_t>(kind)] = {handle, object};
  }
  void remove(const void* handle) noexcept {
    for (Last& last : last_)
      if (last.handle == handle) last = {};
    const std::uint64_t place = (reinterpret_cast<std::uint64_t>(handle) >> 4 & 0xfffffff) - 1;
    Place& p = places_[place];
    p.object = nullptr;
    p.kind = HandleKind::none;
    if (++p.generation == 0) p.generation = 1;
    free_.push_back(static_cast<std::uint32_t>(place));
  }

 private:
  [[nodiscard]] void* look_up(HandleKind kind, const void* handle) const noexcept {
    const auto number = reinterpret_cast<std::uint64_t>(handle);
    const std::uint64_t place = (number >> 4 & 0xfffffff) - 1;
    if (place >= places_.size()) return nullptr;
    const Place& p = places_[place];
    return p.kind == kind && p.generation == number >> 32 &&
                   (number & 0xf) == static_cast<std::uint64_t>(kind)
               ? p.object
               : nullptr;
  }

  /// The object that was found last of each kind: most programs ask for it again.
  struct Last {
    const void* handle = nullptr;
    void* object = nullptr;
  };
  struct Place {
    void* object = nullptr;
    std::uint32_t generation = 1;
    HandleKind kind = HandleKind::none;
  };
  std::array<Last, 6> last_{};  // by kind
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;
};

}  // namespace viaduct::via::vipl
