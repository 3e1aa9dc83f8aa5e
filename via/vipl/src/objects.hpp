#pragma once
/// @file
/// The objects behind the handles. All of it is used under the library's lock.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "via/vipl/src/control.hpp"
#include "via/vipl/src/fifo.hpp"
#include "via/vipl/src/message.hpp"
#include "via/vipl/vipl.h"
#include "viaduct/runtime/types.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/shm/completion_queue.hpp"
#include "viaduct/via/shm/vi.hpp"

namespace viaduct::via::vipl {

struct Cq;
struct Nic;
struct Vi;

using ErrorHandler = void (*)(VIP_PVOID, VIP_ERROR_DESCRIPTOR*);
using DescriptorHandler = void (*)(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR*);
using EntryHandler = void (*)(VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN);

template <class Handler>
struct Notice {
  Handler handler;
  VIP_PVOID context;
};

/// A NIC as VipOpenNic gives it: several may stand for the one NIC of the process.
struct Nic {
  VIP_NIC_HANDLE handle = nullptr;
  ErrorHandler on_error = nullptr;
  VIP_PVOID error_context = nullptr;
  bool names = false;  // between VipNSInit and VipNSShutdown
};

struct Ptag {
  VIP_PROTECTION_HANDLE handle = nullptr;
  Nic* nic = nullptr;
  ProtectionTag tag{};
  std::uint32_t uses = 0;
};

struct Region {
  MemoryRegion region;
  Nic* nic = nullptr;
  Ptag* tag = nullptr;
  bool rdma_write = false;
  bool rdma_read = false;
};

/// An entry of a completion queue.
struct Entry {
  Vi* vi;
  bool receive;
};

struct Cq {
  shm::CompletionQueue* plain = nullptr;  // `queue` where it is one of provider shm (fast.hpp)
  VIP_CQ_HANDLE handle = nullptr;
  Nic* nic = nullptr;
  std::unique_ptr<via::CompletionQueue> queue;
  std::size_t entries = 0;   // as the program has asked for
  std::size_t attached = 0;  // depths of the work queues, for which the provider's has room
  std::uint32_t uses = 0;
  Fifo<Entry> early;  // entries whose descriptors have been taken off the provider's queue
  std::deque<Notice<EntryHandler>> notices;
};

/// A send or receive queue of a VI.
struct WorkQueue {
  ShortFifo<Descriptor> done;                 // taken off the provider's queue
  shm::CompletionQueue* plain = nullptr;      // `own` where it is one of provider shm (fast.hpp)
  const std::uint32_t* outstanding = &held;   // what the provider has: its own count, or `held`
  std::uint32_t held = 0;                     // of another provider than shm
  Cq* cq = nullptr;                           // the program's, or null
  std::unique_ptr<via::CompletionQueue> own;  // without one
  Fifo<Descriptor*> late;                     // flushed here, behind all that the provider flushed
  std::deque<Notice<DescriptorHandler>> notices;

  WorkQueue() = default;
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// @return the descriptors that are posted and not handed over.
  [[nodiscard]] std::size_t queued() const noexcept {
    return *outstanding + done.size() + late.size();
  }
  [[nodiscard]] via::CompletionQueue& queue() const noexcept {
    return cq != nullptr ? *cq->queue : *own;
  }
};

/// How far a VI is on its way to a connection.
enum class Phase : std::uint8_t {
  idle,
  requesting,    // VipConnectRequest
  accepting,     // VipConnectAccept
  peer,          // VipConnectPeerRequest, not matched yet
  peer_matched,  // the two have found each other and connect
  connected,     // until VipDisconnect, even if the connection ends before
};

/// A descriptor that the provider must refuse, since VIPL does, and its fields before
/// spoil() changed them.
struct Spoiled {
  Descriptor* descriptor;
  std::uint32_t length;
  MemoryHandle remote;
  std::uint16_t control;
  std::uint32_t status;  // the error that it gets
};

/// The VI that a call named last, while it is ready: the short ways (fast.hpp) know it by its
/// handle alone. Under the library's lock.
struct NamedLast {
  VIP_VI_HANDLE handle = nullptr;
  Vi* vi = nullptr;  // null: there is none
};
inline constinit NamedLast named_last;

struct alignas(kCacheLineBytes) Vi : ViOwner {
  // Hot: the words that the short ways read (fast.hpp).
  shm::Vi* ready = nullptr;  // `vi`, connected, with nothing below that needs more; see refresh()
  // Of the region that the last descriptor lay in.
  std::uintptr_t region_begin = 0;
  std::size_t region_bytes = 0;
  VIP_MEM_HANDLE region_handle = 0;
  std::uint32_t depth = 0;  // of each work queue
  std::uint64_t max_transfer = 0;
  WorkQueue send, receive;

  VIP_VI_HANDLE handle = nullptr;
  Nic* nic = nullptr;
  Ptag* tag = nullptr;
  VIP_VI_ATTRIBUTES attributes{};
  Phase phase = Phase::idle;
  bool lost = false;      // the connection has ended, and the program has not disconnected
  bool reported = false;  // and the error callback has heard of it
  RemoteAttributes remote;
  std::vector<Spoiled> spoiled;
  shm::Vi* plain = nullptr;  // `vi` where it is one of provider shm

  Vi() = default;
  ~Vi() { forget_name(); }
  Vi(const Vi&) = delete;
  Vi& operator=(const Vi&) = delete;

  /// To be called after each change of the members that it reads.
  void refresh() noexcept {
    const bool is_plain =
        phase == Phase::connected && spoiled.empty() && send.late.empty() && receive.late.empty();
    ready = is_plain ? plain : nullptr;
    if (ready == nullptr) forget_name();
  }
  /// A call names the VI.
  void remember_name() noexcept {
    if (ready != nullptr) named_last = {handle, this};
  }
  void forget_name() const noexcept {
    if (named_last.vi == this) named_last = {};
  }
  void enter(Phase next) noexcept {
    phase = next;
    refresh();
  }

  // Connecting.
  std::uint64_t id = 0;  // of the attempt
  Rank peer{};
  Discriminator local_discriminator, remote_discriminator;
  std::uint64_t deadline_ns = 0;
  VIP_RETURN answer = VIP_NOT_DONE;  // the other side's
  bool nobody_waits = false;

  std::unique_ptr<via::Vi> vi;  // ends before its queues
};

/// A request of a client that a VipConnectWait may take, or has taken.
struct Connection {
  VIP_CONN_HANDLE handle = nullptr;  // null: not taken
  Nic* nic = nullptr;                // that has taken it
  Rank from{};
  std::uint64_t id = 0;
  RemoteAttributes attributes;
  Discriminator client, server;
  bool cancelled = false;
};

/// An asynchronous error on its way to the program.
struct Report {
  ErrorHandler handler;
  VIP_PVOID context;
  VIP_ERROR_DESCRIPTOR error;
};

}  // namespace viaduct::via::vipl
