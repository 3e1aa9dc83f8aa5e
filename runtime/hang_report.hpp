#pragma once
/// @file
/// One line that says what a rank waits for, from its record in the job page.

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/job_page.hpp"

namespace viaduct {

[[nodiscard]] const char* to_string(RankState state) noexcept;
[[nodiscard]] const char* to_string(Activity activity) noexcept;

/// Operations that are told in words of their own: a first message waits until its peer, which must
/// poll, has connected; a Job's destructor waits for the other ranks.
inline constexpr const char* kConnecting = "connection";
inline constexpr const char* kEndingJob = "~Job";

/// The message handler that a rank is in.
struct HandlerNow {
  std::string name;    ///< empty: none runs
  bool waits = false;  ///< it is itself in the wait that the rank's record tells of
};

/// "rank 3 (pid 123): waiting for a credit towards rank 0; credits in 4, out 0; ...". @p operation
/// may be empty; @p now_ns is monotonic_ns().  Reads only; the rank is not disturbed.
[[nodiscard]] std::string hang_line(const RankRecord& record, std::uint32_t rank,
                                    std::string_view operation, std::uint64_t now_ns,
                                    const HandlerNow& handler = {});

/// The message handler that a rank of this host is in, read from that rank's memory. None, where
/// the kernel does not allow that.
///
/// Cost  four to seven system calls.
[[nodiscard]] HandlerNow handler_of(const RankRecord& record);
/// The operation of a rank of this host, a literal in its memory; empty where the kernel does not
/// allow to read it.
[[nodiscard]] std::string operation_of(const RankRecord& record);

}  // namespace viaduct
