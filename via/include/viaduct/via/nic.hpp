#pragma once
/// @file
/// Network interface controllers: an open provider instance, and the set-up of everything on it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viaduct/runtime/types.hpp"
#include "viaduct/via/completion_queue.hpp"
#include "viaduct/via/memory_region.hpp"
#include "viaduct/via/types.hpp"
#include "viaduct/via/vi.hpp"

namespace viaduct {
class Job;
}

namespace viaduct::via {

/// The features of a provider, and its limits.
struct NicAttributes {
  std::string name;                      ///< "shm", "verbs"
  std::uint32_t max_transfer_bytes = 0;  ///< of one descriptor
  std::uint32_t max_segments = 0;        ///< data segments of one descriptor
  std::uint32_t max_queue_depth = 0;
  std::uint32_t max_regions = 0;
  std::uint32_t max_completion_queue = 0;
  std::uint32_t immediate_bits = 0;
  /// A send of up to so many bytes is copied at post, from memory of any kind.
  std::uint32_t inline_bytes = 0;
  bool rdma_read = false;
  bool atomics = false;
  bool unreliable = false, reliable_delivery = false, reliable_reception = false;
};

/// An error that no descriptor's completion tells of, or the cause of many that do.
struct AsyncError {
  ErrorCause cause = ErrorCause::none;
  Vi* vi = nullptr;                  ///< the VI concerned, or null
  CompletionQueue* queue = nullptr;  ///< the completion queue concerned, or null
  Rank peer{};
};

/// A connection request that a listener has received and not yet answered.
struct ConnectionRequest {
  Rank from{};
  std::uint64_t discriminator = 0;
  Reliability reliability = Reliability::delivery;
  std::uint64_t ticket = 0;  ///< for accept() and reject()
};

/// Set-up is not thread-safe: one thread at a time per NIC. Only listen() blocks, and functions
/// that say so.
class Nic {
 public:
  Nic() = default;
  virtual ~Nic() = default;
  Nic(const Nic&) = delete;
  Nic& operator=(const Nic&) = delete;

  /// @return the features and limits of this NIC, which do not change.
  [[nodiscard]] virtual const NicAttributes& attributes() const noexcept = 0;

  /// Another tag, which no other rank has.  Throws Error when there are no more.
  [[nodiscard]] virtual ProtectionTag create_tag() = 0;
  /// Throws Error while VIs or regions still use it.
  virtual void destroy_tag(ProtectionTag tag) = 0;

  /// Registers [address, address + bytes) under @p tag. Right `atomic` needs memory from
  /// allocate(). On shm, peers map such memory; other memory is reached with process_vm_writev
  /// where the kernel allows it. On verbs the memory is locked. Throws Error naming the range, the
  /// limit, the remedy.  Cost: a system call or more, on verbs also the pages'.
  [[nodiscard]] virtual MemoryRegion register_memory(ProtectionTag tag, std::byte* address,
                                                     std::size_t bytes, Rights rights) = 0;
  /// Ends a registration, as the end of a MemoryRegion does.  Precondition: no descriptor that is
  /// under way names it.
  virtual void deregister(MemoryHandle handle) noexcept = 0;
  /// Gives a region another tag and other rights; its handle stays. No descriptor that is under way
  /// may name it. False: this provider cannot, or there is no such region or tag, or the memory
  /// does not allow the rights; nothing has changed.
  [[nodiscard]] virtual bool change_memory(MemoryHandle /*handle*/, ProtectionTag /*tag*/,
                                           Rights /*rights*/) {
    return false;
  }

  /// Memory that peers can reach in the provider's best way (on shm by loads and stores), once it
  /// is registered: zeroed, aligned to at least 128 bytes.  Throws Error or std::bad_alloc when
  /// there is none.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  /// Releases memory of allocate().  Precondition: no region covers it any more.
  virtual void release(std::byte* address) noexcept = 0;

  /// Throws Error for a capacity of 0 or beyond the limit, or when there is no room.
  [[nodiscard]] virtual std::unique_ptr<CompletionQueue> create_completion_queue(
      std::size_t capacity) = 0;
  /// Throws Error for a bad tag, depth 0 or beyond the limit, or a completion queue too small for
  /// the depth.
  [[nodiscard]] virtual std::unique_ptr<Vi> create_vi(const ViAttributes& attributes) = 0;

  /// Waits up to @p timeout_ns (negative: for ever) for a request with @p discriminator: ok or
  /// timeout. Makes progress as progress() does.
  virtual Status listen(std::uint64_t discriminator, ConnectionRequest& out,
                        std::int64_t timeout_ns) = 0;
  /// Connects @p vi (idle) to the requester. bad_state: vi not idle; bad_argument: reliability
  /// differs or the ticket is gone; peer_lost.  Throws Error when the provider has no room.
  virtual Status accept(const ConnectionRequest& request, Vi& vi) = 0;
  /// Tells the requester so; does nothing if it has given up meanwhile.  Never waits.
  virtual void reject(const ConnectionRequest& request) = 0;

  /// Called, from within a poll, for a peer-to-peer request that no local VI has started to match;
  /// the callee may start one (create_vi, connect_peer_start) there and then, or later, or
  /// reject_peer().
  using IncomingPeer = std::function<void(Rank from, std::uint64_t discriminator)>;
  /// Sets the callee; an empty one takes it away.  Order: requests that came before are not told
  /// of.
  virtual void on_incoming_peer(IncomingPeer callback) = 0;
  /// The answer to such a request; does nothing if the request is gone.  Never waits.
  virtual void reject_peer(Rank from, std::uint64_t discriminator) = 0;

  /// Asynchronous errors; called from within a poll, a wait, a post or progress() of this rank's
  /// thread. The default logs a warning, except for `disconnected`.  Never waits.
  ///
  /// @p callback may make VIs, and destroy any VI, also the one that it is told of, but not one for
  /// which connect(), connect_peer_wait() or disconnect() is under way. A send_wait() or
  /// receive_wait() of a VI that it destroys answers bad_state. It may not destroy a completion
  /// queue of the program's.
  virtual void on_error(std::function<void(const AsyncError&)> callback) = 0;

  /// Moves connections on. Completions stay in their queues until these are polled.  Blocks never.
  virtual void progress() noexcept = 0;
};

/// Opens provider @p name for this rank: "shm", "verbs", "verbs:mlx5_0" (a device). Collective. On
/// shm an ended NIC keeps its page, its mailbox and its region table in the rank's window until the
/// job ends, since peers may still look at them: 64 bytes for each of VIADUCT_SHM_REGIONS and for
/// each rank, 64 KiB by default.
/// Throws Error listing the providers by name, or saying what this one misses here.
[[nodiscard]] std::unique_ptr<Nic> open_nic(Job& job, std::string_view name = "shm");

}  // namespace viaduct::via
