#pragma once
/// @file
/// The limit on locked memory (RLIMIT_MEMLOCK), which memory registered with an RDMA device counts
/// against.

#include <cstddef>
#include <cstdint>
#include <string>

namespace viaduct::via {

struct MemoryLock {
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  std::uint64_t limit_bytes = kUnlimited;  ///< of this process, if it is limited
  std::uint64_t most_bytes = kUnlimited;   ///< that it may raise its limit to
  std::uint64_t registered_bytes = 0;      ///< at present
  bool exempt = false;                     ///< by CAP_IPC_LOCK
  /// @return whether a limit applies to the process.
  [[nodiscard]] bool limited() const noexcept { return !exempt && limit_bytes != kUnlimited; }
};

/// Reads the limit and the bytes that are registered now. Throws nothing.
[[nodiscard]] MemoryLock memory_lock();

/// @return a sentence for the end of an error: the reason why @p wanted bytes more were not
/// registered, and the remedy.
[[nodiscard]] std::string memory_lock_advice(const MemoryLock& lock, std::size_t wanted);

/// @return the bytes that a registration cache may hold where no setting says it: half of the
/// limit, the rest being for rings and segments; without a limit 1 GiB, or an eighth of the
/// machine's memory if that is less.
[[nodiscard]] std::size_t default_pinned_bytes(const MemoryLock& lock);

}  // namespace viaduct::via
