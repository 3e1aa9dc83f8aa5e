#pragma once
/// @file
/// What all devices of a job and its tests share: the faults to inject, and what has been counted.
/// The file that SOFT_VERBS_CONTROL names holds it; soft-verbs-control writes it while a job runs.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace soft_verbs {

/// Which packets do not arrive at all; bits.
enum Cut : std::uint32_t { kCutRequests = 1, kCutAnswers = 2, kCutDatagrams = 4 };

/// Faults that strike at random, each with a probability of its own.
enum Fault : std::uint32_t {
  kLoss,       ///< a packet does not arrive
  kDelay,      ///< a packet, or the start of a request, is late by up to the given time
  kTorn,       ///< a write becomes visible byte by byte, or in larger pieces, from either end
  kScattered,  ///< a write becomes visible byte by byte, in no order
  kDuplicate,  ///< a packet arrives twice
  kLate,       ///< a completion becomes visible late, by up to the given time
  kGarbage,    ///< behind a datagram comes another, of random bytes
  kAgain,      ///< a completion is delivered twice: a broken device
  kFaults
};

enum Counter : std::uint32_t {
  kPackets,
  kLost,
  kDelayed,
  kTornWrites,
  kDuplicated,
  kLateCompletions,
  kGarbageDatagrams,
  kCompletionsAgain,
  kReceiverNotReady,
  kSequenceErrors,
  kRetries,
  kUnheardDatagrams,  ///< without a receive, of another key, or with no room on their way
  kRefusedCalls,
  kCounters
};

struct Control {
  static constexpr std::uint32_t kMagic = 0x53564331;
  static constexpr std::size_t kFileBytes = 4096;
  static constexpr std::uint32_t kPortsPerDevice = 2;

  std::atomic<std::uint32_t> magic;
  std::atomic<std::uint32_t> announced;  ///< the faults have been printed
  std::atomic<std::uint32_t> cut;
  std::atomic<std::uint64_t> ports_down;  ///< bit kPortsPerDevice * device + port - 1
  std::atomic<std::uint64_t> dead;        ///< bit of each device that has died
  std::atomic<std::uint64_t> seed;
  /// Which call from now on is refused, once: 1 the next one, 0 none. Calls that open, query, make,
  /// change or register count; those that give back do not.
  std::atomic<std::uint64_t> refuse_call;
  std::atomic<std::int64_t> regions;  ///< registered now
  std::atomic<std::int64_t> objects;  ///< open devices, domains, queues, pairs and the like, now
  std::atomic<std::uint32_t> per_million[kFaults];
  std::atomic<std::uint64_t> time_ns[kFaults];
  std::atomic<std::uint64_t> counters[kCounters];

  /// Whether the call that is being made is to be refused.
  [[nodiscard]] bool refuses_call() noexcept {
    std::uint64_t left = refuse_call.load();
    while (left != 0 && !refuse_call.compare_exchange_weak(left, left - 1)) {
    }
    if (left == 1) count(kRefusedCalls);
    return left == 1;
  }
  void count(Counter which) noexcept { counters[which].fetch_add(1, std::memory_order_relaxed); }
};
static_assert(sizeof(Control) <= Control::kFileBytes);

/// Takes up @p text, for example "loss=3%,delay=10%:500us,seed=7".  False: @p problem says why.
[[nodiscard]] bool apply_faults(Control& control, std::string_view text, std::string& problem);
/// The opposite of apply_faults().
[[nodiscard]] std::string describe_faults(const Control& control);
[[nodiscard]] const char* name_of(Counter counter) noexcept;

/// The file's, made if it is not there; for an empty name one of this process's own.  Null: errno.
[[nodiscard]] Control* open_control(const char* file) noexcept;

/// "NAME[:infiniband][:PORTS],..." of SOFT_VERBS_DEVICES; at most 32 devices.
struct DeviceDescription {
  std::string name;
  bool infiniband = false;
  std::uint32_t ports = 1;
};
constexpr const char* kDefaultDevices = "soft0,soft1";
/// The number of the next entry of @p list, which is shortened by it.  False: it is malformed.
[[nodiscard]] bool next_device(std::string_view& list, DeviceDescription& out);

/// The abstract socket's name of a context: fabric, device, slot.
[[nodiscard]] std::string socket_prefix();

}  // namespace soft_verbs
