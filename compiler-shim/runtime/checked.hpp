#pragma once
// The calls by which the library informs the race checker of `splitcc --checked`
// (docs/splitc-checked.md). Programs that have a checked file contain the checker; in others
// `hooks` stays null.

#include <cstddef>
#include <cstdint>

namespace viaduct::shim::checked {

/// How an access was written in the source.
enum class Kind : std::uint8_t {
  local,  // of this process' memory, by a local pointer or a variable's name
  read,
  write,
  get,
  put,
  store,
  bulk_read,
  bulk_write,
  bulk_get,
  bulk_put,
  bulk_store,
};

struct Hooks {
  /// Before splitc_main, in every process.
  void (*begin)();
  /// A block between @p remote and this process' memory at @p local; @p caller: the place of the
  /// call.
  void (*bulk)(Kind kind, std::uint64_t remote, const void* local, std::size_t bytes,
               const void* caller);
  /// From here on others may know of the accesses that this process has made.
  void (*release)();
  /// From here on this process may know of the accesses that others have made.
  void (*acquire)();
  /// Stores of others may have been delivered.
  void (*poll)();
  /// In a collective call, after all have come and before one leaves. Collective.
  void (*end_epoch)();
  /// After splitc_main, which has ended with @p exit_code; answers the code to end with.
  /// Collective where that is 0.
  int (*finish)(int exit_code);
};
extern const Hooks* hooks;

inline void note_bulk(Kind kind, std::uint64_t remote, const void* local, std::size_t bytes,
                      const void* caller) {
  if (hooks != nullptr) [[unlikely]]
    hooks->bulk(kind, remote, local, bytes, caller);
}
inline void note_acquire() {
  if (hooks != nullptr) [[unlikely]]
    hooks->acquire();
}

inline void note_poll() {
  if (hooks != nullptr) [[unlikely]]
    hooks->poll();
}

/// Around an operation that may order accesses of this process and of others.
class Ordering {
 public:
  Ordering() {
    if (hooks != nullptr) [[unlikely]]
      hooks->release();
  }
  ~Ordering() { note_acquire(); }
  Ordering(const Ordering&) = delete;
  Ordering& operator=(const Ordering&) = delete;
};

}  // namespace viaduct::shim::checked
