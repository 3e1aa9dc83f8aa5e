#pragma once
/// @file
/// The process' part of VIPL: one NIC of a provider, opened with the first VipOpenNic and kept to
/// the process' end, and all objects on it.

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "via/vipl/settings.hpp"
#include "via/vipl/src/handles.hpp"
#include "via/vipl/src/lock.hpp"
#include "via/vipl/src/notify.hpp"
#include "via/vipl/src/objects.hpp"
#include "via/vipl/src/regions.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::vipl {

/// Host addresses have 6 bytes, as those of many networks of the time: 'V', 'I', and the rank.
inline constexpr std::uint16_t kHostAddressBytes = 6;
using HostAddress = std::array<std::uint8_t, kHostAddressBytes>;
[[nodiscard]] constexpr HostAddress host_address(Rank rank) noexcept {
  const auto byte = [rank](unsigned shift) {
    return static_cast<std::uint8_t>(index(rank) >> shift);
  };
  return {'V', 'I', byte(24), byte(16), byte(8), byte(0)};
}

/// A call to the provider may sleep for at most so long while the lock is held.
inline constexpr std::int64_t kSliceNs = 5'000'000;

/// All that exists while the provider's NIC is open.
class Port {
 public:
  /// Collective. @p provider: "" for the default.  Throws Error.
  explicit Port(std::string_view provider);
  ~Port();
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  [[nodiscard]] const std::string& provider() const noexcept { return provider_; }
  [[nodiscard]] Job& job() noexcept { return *job_; }
  [[nodiscard]] via::Nic& nic() noexcept { return *nic_; }
  [[nodiscard]] Control& control() noexcept { return *control_; }
  [[nodiscard]] std::uint32_t depth() const noexcept { return depth_; }
  [[nodiscard]] std::uint64_t max_transfer() const noexcept { return max_transfer_; }
  [[nodiscard]] const HostAddress& address() const noexcept { return address_; }
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  /// The name of a rank's process, and its host's.  Throws Error.
  struct Names {
    std::string own, host;
  };
  [[nodiscard]] Names names_of(Rank rank);

  /// Moves connections and control messages on.  Blocks never.
  void progress() noexcept;
  [[nodiscard]] std::uint64_t next_id() noexcept {
    return std::uint64_t{1} << 63 | std::uint64_t{index(job_->rank())} << 32 | ++ids_;
  }

  /// At the process' end: tells the peers, and the launcher when the program has ended well.
  void end(bool well) noexcept;

  std::vector<std::unique_ptr<Nic>> nics;
  std::vector<std::unique_ptr<Ptag>> tags;
  Regions regions;
  std::vector<std::unique_ptr<Cq>> queues;
  std::vector<std::unique_ptr<Vi>> vis;
  std::vector<std::unique_ptr<Connection>> connections;
  std::vector<const Discriminator*> waiters;  // of VipConnectWait
  std::vector<Connection> peer_requests;      // of higher ranks, and of this one, not matched yet

 private:
  void handle(Rank from, const Message& message);
  void on_error(const AsyncError& error) noexcept;

  Settings settings_{};
  std::unique_ptr<Job> job_;
  bool launched_ = false;  // by a launcher that waits for the Job's end
  std::string provider_;
  std::unique_ptr<via::Nic> nic_;
  std::unique_ptr<Control> control_;
  HostAddress address_{};
  std::uint32_t depth_ = 0;
  std::uint64_t max_transfer_ = 0;
  std::uint32_t ids_ = 0;
};

/// Each process has one library, which is never destroyed: calls may come as late as they like.
struct Library {
  Lock lock;
  bool has_reports = false;      // whether `reports` has any
  bool is_telling = false;       // an error handler runs
  std::uint32_t idle_polls = 0;  // calls that have looked at a queue in vain
  Handles handles;
  std::unique_ptr<Port> port;
  std::vector<Report> reports;
  std::unique_ptr<NotifyThread> notify;
  bool ended = false;  // the process is ending: no NIC can be opened any more

  /// Whether a look in vain is to be followed by the port's progress: now and then.
  [[nodiscard]] bool is_progress_due() const noexcept { return idle_polls % 64 == 0; }
};
union LibraryPlace {
  constexpr LibraryPlace() noexcept : library() {}
  ~LibraryPlace() {}  // leaves it as it is
  Library library;
};
// Made by the compiler: a call finds it without asking whether it is there.
inline constinit LibraryPlace library_place;
[[nodiscard]] inline Library& library() noexcept { return library_place.library; }

/// Holds the lock; on leaving, hands errors over to the program.
class Guard {
 public:
  Guard() noexcept : library_(library()), alone_(library_.lock.enter()) {}
  ~Guard() {
    if (library_.has_reports) [[unlikely]]
      leave_reporting();
    else
      library_.lock.leave(alone_);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  [[nodiscard]] Library* operator->() const noexcept { return &library_; }

 private:
  [[gnu::cold, gnu::noinline]] void leave_reporting() noexcept;
  Library& library_;
  bool alone_;  // what enter() has answered
};

template <class Object>
inline constexpr HandleKind kKindOf = HandleKind::none;
template <>
inline constexpr HandleKind kKindOf<Nic> = HandleKind::nic;
template <>
inline constexpr HandleKind kKindOf<Vi> = HandleKind::vi;
template <>
inline constexpr HandleKind kKindOf<Cq> = HandleKind::cq;
template <>
inline constexpr HandleKind kKindOf<Ptag> = HandleKind::ptag;
template <>
inline constexpr HandleKind kKindOf<Connection> = HandleKind::connection;

/// The object of a handle, or null.
template <class Object>
[[nodiscard]] Object* find(const void* handle) noexcept {
  return static_cast<Object*>(library().handles.find(kKindOf<Object>, handle));
}

/// A cold call: takes the lock, and turns an exception of @p body into a result.
template <class Body>
VIP_RETURN call(Body body) noexcept {
  const Guard guard;
  if (guard->port == nullptr) return VIP_INVALID_PARAMETER;  // no handle is one
  try {
    return body(*guard->port);
  } catch (const std::exception&) {
    return VIP_ERROR_RESOURCE;
  }
}

/// When a time limit of the program's is over, by monotonic_ns(); all ones: never.
[[nodiscard]] std::uint64_t deadline_of(VIP_ULONG timeout_ms) noexcept;

/// Takes @p object out of @p list, and its handle out of use.
template <class Object>
void remove(std::vector<std::unique_ptr<Object>>& list, const Object& object) noexcept {
  if (object.handle != nullptr) library().handles.remove(object.handle);
  std::erase_if(list, [&](const auto& entry) { return entry.get() == &object; });
}

/// Destroys a VI, for VipDestroyVi and VipCloseNic.
void destroy(Port& port, Vi& vi) noexcept;
void destroy(Port& port, Cq& cq) noexcept;
/// Disconnects a VI, for VipDisconnect.
void disconnect(Port& port, Vi& vi) noexcept;
/// Rejects a connection, for VipConnectReject.
void reject(Port& port, const Connection& connection) noexcept;
/// The connection of @p vi has ended: tells the program, once.
void record_loss(Vi& vi, ErrorCause cause) noexcept;
/// Takes the oldest entry; false: there is none.
[[nodiscard]] bool take(Cq& cq, Entry& entry) noexcept;
/// Ends the provider's connection, or attempt: receives that no message has used stay posted.
void disconnect_keeping_receives(Vi& vi);
/// Handles a message about connections.
void handle_message(Port& port, Rank from, const Message& message);

}  // namespace viaduct::via::vipl
