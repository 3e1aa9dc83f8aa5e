#pragma once
/// @file
/// An open device: its objects, its lock, and its connections to other contexts.
///
/// One lock for each context protects all that is below, but for what says otherwise. A thread of
/// the context, the device, receives packets and keeps time; requests are sent by the thread that
/// posts them, as far as there is room, and by the device afterwards.

#include <infiniband/verbs.h>
#include <sys/uio.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tests/soft-verbs/control.hpp"
#include "tests/soft-verbs/packet.hpp"

namespace soft_verbs {

class QueuePair;
struct CompletionQueue;
struct Context;

[[nodiscard]] std::uint64_t now_ns() noexcept;

struct Device {
  ibv_device shown{};  // first: the program's pointer
  DeviceDescription description;
  std::uint16_t index = 0;
};
[[nodiscard]] const std::vector<std::unique_ptr<Device>>& devices();
[[nodiscard]] Control& control();
/// Whether the call that is being made is refused, as when memory or other means are used up: errno
/// is ENOMEM then.
[[nodiscard]] bool is_refused() noexcept;

/// A port in the fabric.
struct Place {
  std::uint16_t device = 0;
  std::uint8_t port = 1;
};
/// Where @p gid is.  False: nowhere.
[[nodiscard]] bool find_gid(const ibv_gid& gid, Place& out);
[[nodiscard]] bool find_lid(std::uint16_t lid, Place& out);
[[nodiscard]] std::uint16_t lid_of(Place place) noexcept;
/// Entry @p at of a port's table.  False: there is none.
[[nodiscard]] bool gid_entry(Place place, std::uint32_t at, ibv_gid_entry& out);
constexpr std::uint32_t kGidsEthernet = 4;
[[nodiscard]] bool port_is_up(Place place) noexcept;
/// Where @p route leads, checked as the device does.  Answers 0 or the error.
[[nodiscard]] int resolve(const Context& context, const ibv_ah_attr& route, Place& out);

/// The table that inline verbs go through, as libibverbs lays it out, and its context.
struct Shown {
  verbs_context verbs{};
  Context* context = nullptr;
};
[[nodiscard]] Context& context_of(ibv_context* shown) noexcept;

struct Domain : ibv_pd {
  std::uint32_t uses = 0;
};
struct Region : ibv_mr {
  int access = 0;
};
struct AddressHandle : ibv_ah {
  Place to;
  std::uint8_t from_port = 1;
};
struct Channel : ibv_comp_channel {
  std::deque<CompletionQueue*> pending;  // as many as the count of its eventfd says
};

struct ReceiveRequest {
  std::uint64_t id = 0;
  std::vector<ibv_sge> segments;
};

/// Shared receive queue.
struct SharedQueue : ibv_srq {
  std::uint32_t most = 0;
  std::uint32_t most_segments = 0;
  std::uint32_t occupied = 0;  // until the completion has been polled
  std::uint32_t limit = 0;
  std::uint32_t users = 0;
  std::deque<ReceiveRequest> posted;
};

/// Which place of which queue a completion gives back when it is polled.
struct Entry {
  ibv_wc completion{};
  QueuePair* pair = nullptr;
  bool is_send = false;
  bool solicited = false;    // rings a queue that is armed for solicited ones alone
  bool again = false;        // a second one, which gives nothing back
  std::uint64_t number = 0;  // of the send request
  std::uint64_t visible_ns = 0;
};
struct CompletionQueue : ibv_cq {
  std::deque<Entry> entries;
  std::atomic<std::uint32_t> visible{0};  // so many of them; read without the lock, too
  enum class Armed : std::uint8_t { no, solicited, any } armed = Armed::no;
  std::uint32_t users = 0;
  bool broken = false;
};

/// One direction of the way to another context; made with the first packet.
struct Link {
  int fd = -1;
  bool told = false;                          // epoll: to say when there is room
  std::deque<std::vector<std::byte>> queued;  // those that may not be refused
};

struct Context {
  Shown shown;
  Device* device = nullptr;
  std::uint32_t objects = 0;

  std::mutex mutex;
  std::condition_variable acknowledged;
  bool forked = false;  // in a child: nothing works any more
  bool dead = false;
  std::uint32_t next_index = 0;
  std::uint32_t next_key = 0;
  std::unordered_map<std::uint32_t, QueuePair*> pairs;  // by index
  std::unordered_map<std::uint32_t, Region*> regions;   // by key
  std::vector<CompletionQueue*> queues;
  std::deque<ibv_async_event> events;
  std::unordered_map<void*, std::uint32_t> unacknowledged;  // events, by their object
  std::uint64_t ports_down = 0;                             // that the program has been told of
  std::mt19937_64 random;

  // Connections.
  std::uint32_t slot = 0;  // 0: not started
  int listener = -1;
  int poller = -1;
  int wake = -1;
  std::vector<int> incoming;
  std::map<std::uint32_t, Link> links;  // by device and slot
  std::vector<QueuePair*> owes;         // acknowledgements, at the end of a batch
  std::uint64_t next_timer_ns = ~0ULL;  // no timer of any object is before it
  std::uint64_t wakes_at_ns = ~0ULL;    // the device sleeps until then at most
  bool ends = false;
  std::thread thread;
};

// fabric.cpp

constexpr std::uint32_t kIndexBits = 12;
constexpr std::uint32_t kMaxPairs = (1U << kIndexBits) - 1;

enum class Sent : std::uint8_t { yes, full };
struct Payload {
  iovec* pieces = nullptr;
  std::size_t count = 0;
};
/// Starts the device.  Answers 0 or the error.
[[nodiscard]] int start(Context& context);
void stop(Context& context);
/// Full: there is no room; the queue pair's advance() is called when there is. A packet that is
/// lost, or whose receiver is no more, is sent as any other.
[[nodiscard]] Sent try_send(Context& context, Place to, const Packet& packet, Payload payload);
/// Queues what has no room now; datagrams are lost then.
void send(Context& context, Place to, const Packet& packet, Payload payload);
/// Whether a context can answer for @p pair at @p to.
[[nodiscard]] bool is_reachable(Context& context, Place to, std::uint32_t pair);
/// The device looks at its timers at @p ns or before.
void set_timer(Context& context, std::uint64_t ns);
[[nodiscard]] bool strikes(Context& context, Fault fault);
void look_at_control(Context& context);
/// For the thread: what has come, and what time has brought.
void handle(Context& context, const Packet& packet, std::byte* payload, std::size_t bytes);
void run_timers(Context& context);
void send_owed(Context& context);

// memory.cpp

/// The region that grants @p access to the bytes.  Null: there is none.
[[nodiscard]] Region* find_region(Context& context, const ibv_pd* domain, std::uint32_t key,
                                  std::uint64_t address, std::uint64_t bytes, int access) noexcept;
/// As a device does it: unseen by sanitizers; with fault `torn` byte by byte.
void write_memory(Context& context, std::uint64_t to, const std::byte* from, std::size_t bytes);
/// Without faults, unseen as well.
void copy_unseen(void* to, const void* from, std::size_t bytes) noexcept;
/// Of the 8 bytes at @p to; the old value.
[[nodiscard]] std::uint64_t swap_memory(std::uint64_t to, std::uint64_t compare,
                                        std::uint64_t value) noexcept;
[[nodiscard]] std::uint64_t add_memory(std::uint64_t to, std::uint64_t value) noexcept;

// completion.cpp

void complete(CompletionQueue& queue, Entry entry);
/// Drops what @p pair has in @p queue.
void forget(CompletionQueue& queue, const QueuePair& pair);
void run_timers(CompletionQueue& queue, std::uint64_t now);
void tell(Context& context, const ibv_async_event& event);
/// Events of @p object are told no more, and those that the program has are acknowledged.
void settle_events(Context& context, std::unique_lock<std::mutex>& lock, void* object);

}  // namespace soft_verbs
