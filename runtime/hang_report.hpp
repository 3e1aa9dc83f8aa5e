#pragma once
/// @file
/// One line that says what a rank waits for, from its record in the job page.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viaduct/runtime/job_page.hpp"

namespace viaduct {

/// @return the state in words, a literal.
[[nodiscard]] const char* to_string(RankState state) noexcept;
/// @return the activity in words, a literal.
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

/// The facts about a rank's wait that are not in its own record.
struct Gathering {
  /// The ranks that it waits for and that have not come, by ascending number.
  std::vector<std::uint32_t> absent;
  /// At a fence of its Bootstrap, during which its record does not change.
  bool at_fence = false;
};

/// "rank 3 (pid 123): waiting for a credit towards rank 0; credits in 4, out 0; ...". @p operation
/// may be empty; @p now_ns is monotonic_ns().  @return the line. Cost: reads the record; the rank
/// is not disturbed.
[[nodiscard]] std::string hang_line(const RankRecord& record, std::uint32_t rank,
                                    std::string_view operation, std::uint64_t now_ns,
                                    const HandlerNow& handler = {},
                                    const Gathering& gathering = {});

/// The message handler that a rank of this host is in, read from that rank's memory. None, where
/// the kernel does not allow that.
///
/// Cost  four to seven system calls.
[[nodiscard]] HandlerNow handler_of(const RankRecord& record);
/// The operation of a rank of this host, a literal in its memory; empty where the kernel does not
/// allow to read it.  Cost: one or two system calls.
[[nodiscard]] std::string operation_of(const RankRecord& record);

/// The ranks among the job's @p ranks that have not come to where @p rank waits for all: a barrier,
/// a collective call of Split-C (then of the ranks of its host), the end of its Job. Empty when @p
/// rank is in none of these. As far as the page tells: ranks on their way are named as well.
/// Cost: reads a few words for each rank.
[[nodiscard]] Gathering gathering_of(JobPage& page, std::uint32_t ranks, std::uint32_t rank);

/// @return "rank 3", "ranks 0, 2 to 5 and 9", of long lists "ranks 1, 3, ... and 12 more".
[[nodiscard]] std::string name_ranks(const std::vector<std::uint32_t>& ranks);

}  // namespace viaduct
