#pragma once
/// @file
/// How ranks find each other before they can talk: opaque bytes put under a key, a fence, then get
/// by rank and key.

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/types.hpp"

namespace viaduct {

/// One implementation per way of being launched: viaduct-run's socket, threads of one process, a
/// job of one.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  /// Publishes @p value under @p key for this rank. A second put() under the same key replaces the
  /// value.  Order: visible to the others after the next fence.  Throws Error where the launcher
  /// cannot be reached.
  virtual void put(std::string_view key, std::span<const std::byte> value) = 0;

  /// Collective. Blocks (without polling for messages) until every rank has called it; throws Error
  /// naming the rank when one is lost first.
  virtual void fence() = 0;

  /// The value that @p rank put under @p key before the last fence. Throws Error when it put
  /// nothing.
  [[nodiscard]] virtual std::vector<std::byte> get(Rank rank, std::string_view key) = 0;

  /// put() of an object's bytes.  Order and errors: as put().
  template <class T>
  void put_value(std::string_view key, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(key, std::as_bytes(std::span(&value, 1)));
  }
  /// @return the object that @p rank gave to put_value(); empty: its bytes are not as many.  Order
  /// and errors: as get().
  template <class T>
  [[nodiscard]] std::optional<T> get_value(Rank rank, std::string_view key) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::vector<std::byte> bytes = get(rank, key);
    if (bytes.size() != sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
    return value;
  }

  /// Hands over / fetches an open file descriptor: how peers come by each other's memfd. A rank
  /// calls share_fd() once for each @p key, of which there are few (the empty one is the Job's
  /// own); fetch_fd() works any time after the fence that follows it, and answers a copy.
  /// Throws Error when nothing is shared under the key, or the rank is lost.
  virtual void share_fd(int fd, std::string_view key) = 0;
  /// As share_fd() says.  @return a copy of the descriptor.  Throws Error when nothing is shared
  /// under the key, or the rank is lost.
  [[nodiscard]] virtual FileDescriptor fetch_fd(Rank rank, std::string_view key) = 0;
  /// share_fd() under the empty key, which is the Job's own.  Throws Error.
  void share_fd(int fd) { share_fd(fd, {}); }
  /// fetch_fd() under the empty key.  Throws Error.
  [[nodiscard]] FileDescriptor fetch_fd(Rank rank) { return fetch_fd(rank, {}); }

  /// Keys under which one rank may share descriptors.
  static constexpr std::size_t kMaxSharedFds = 4;
};

}  // namespace viaduct
