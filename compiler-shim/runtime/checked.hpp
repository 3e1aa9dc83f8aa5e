#pragma once
// What the library tells the race checker of `splitcc --checked` (docs/splitc-checked.md). The
// checker is in programs that have a checked file; in others `hooks` stays null.

#include <cstddef>
#include <cstdint>

namespace viaduct::shim::checked {

/// How an access was written in the source.
enum class Kind : std::uint8_t {
  local,  // of the own memory, by a local pointer or a variable's name
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
  /// A block between @p remote and the own memory at @p local; @p caller is where the call stands.
  void (*bulk)(Kind kind, std::uint64_t remote, const void* local, std::size_t bytes,
               const void* caller);
  /// From here on others may learn of what this process has done.
  void (*release)();
  /// From here on this process may have learned of what others have done.
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
