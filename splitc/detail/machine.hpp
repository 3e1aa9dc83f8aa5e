#pragma once
// The root of a process' Split-C state, and how its operations wait.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "splitc/detail/memory.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/splitc/detail/hot.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct {
enum class ErrorCode : std::uint16_t;
}

namespace viaduct::splitc::detail {

class CollectiveEngine;

/// The peer of a wait for no particular process: the loss of any process ends such a wait.
inline constexpr std::uint32_t kAnyone = 0xffffffff;

class Machine {
 public:
  /// Collective.
  explicit Machine(Job& job);
  /// Collective; after set_failed() it waits for the others for a second at most, and not at all
  /// when an exception ends it.
  ~Machine();
  void set_failed() noexcept;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] Job& job() noexcept { return job_; }
  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  [[nodiscard]] Memory& memory() noexcept { return *memory_; }
  [[nodiscard]] CollectiveEngine& collective_engine() noexcept { return *collective_engine_; }

  /// Handles the messages that have come. Answers their number.
  std::uint32_t poll();
  /// Polls, then yields, then sleeps, until @p done answers true (@p done may be called while
  /// nothing has happened). Throws Error when @p process is lost first; with kAnyone, when any
  /// process is.
  void wait_until(const char* operation, std::uint32_t process, const std::function<bool()>& done,
                  Activity activity = Activity::waiting_message);
  /// After a plain store that @p process may be waiting for: wakes it when it sleeps.
  void wake_if_asleep(std::uint32_t process) noexcept;
  /// Sends one slot of the collective @p operation as a message; the receiver hands it to
  /// CollectiveEngine::arrived().
  void send_slot(const char* operation, std::uint32_t process, std::uint32_t index,
                 std::uint64_t mark, const std::uint64_t* words, std::uint32_t count);
  /// The same by pieces, without a wait: sends the first messages that are not yet sent. @p sent:
  /// how many are, 0 at first. Answers whether @p process has handled all.
  [[nodiscard]] bool has_sent_slot(std::uint32_t process, std::uint32_t index, std::uint64_t mark,
                                   const std::uint64_t* words, std::uint32_t& sent);
  /// Whether operations on @p process go by message: the path is forced, or @p process is off-node.
  [[nodiscard]] bool by_message(std::uint32_t process) const noexcept;
  /// Whether @p process shares no memory with this one (docs/splitc.md).
  [[nodiscard]] bool is_remote(std::uint32_t process) const noexcept;
  /// Tells @p process, which is off-node, that this process awaits a slot of its in the call that
  /// @p record, of 7 words, describes. False: not now.
  [[nodiscard]] bool tell_of_wait(std::uint32_t process, const std::uint64_t* record);
  /// Copies from @p process' memory in @p ns at most; polls meanwhile. False: @p process has not
  /// answered.
  [[nodiscard]] bool fetch(std::uint32_t process, std::uint64_t address, void* to,
                           std::size_t bytes, std::uint64_t ns);

  struct Impl;
  [[nodiscard]] Impl& impl() noexcept { return *impl_; }

 private:
  Job& job_;
  Settings settings_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<CollectiveEngine> collective_engine_;
  std::unique_ptr<Impl> impl_;
};

/// This rank's Machine. Stops the program with a sentence that names @p operation when there is
/// none, or while a function runs that atomic() has brought here.
[[nodiscard]] Machine& machine(const char* operation);
/// The same for operations that such a function may use too.
[[nodiscard]] Machine& machine_in_call(const char* operation);

/// Stops the program: "viaduct: [rank 3] read: ... [VIA-4001]".
[[noreturn, gnu::cold]] void stop(ErrorCode id, const char* operation, const char* what);
[[noreturn, gnu::cold]] void stop(ErrorCode id, const char* operation, const std::string& what);
/// Stops the program: there is no process @p process. @p where says what names that process: "the
/// global pointer".
[[noreturn, gnu::cold]] void stop_no_process(const char* operation, const char* where,
                                             std::int64_t process);

}  // namespace viaduct::splitc::detail
