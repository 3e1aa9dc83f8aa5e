#pragma once
/// @file
/// The number of cores that this process may use, and the defaults of waiting that depend on it.

#include <cstdint>
#include <string>

#include "viaduct/runtime/job_page.hpp"
#include "viaduct/runtime/settings.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct {

/// Cores in the affinity mask, or fewer where a control group's cpu.max (or cpu.cfs_quota_us)
/// allows less. At least 1.
[[nodiscard]] std::uint32_t usable_cores(const std::string& root = {});

/// The cores that a control group's quota is worth, rounded up; 0 when there is no quota.
[[nodiscard]] std::uint32_t quota_cores(const std::string& root = {});

/// Adds the cores that this process may run on to the page's, and counts those there. Cores beyond
/// JobPage::kMaxCpus are left out.
void note_own_cores(JobPage& page);
[[nodiscard]] std::uint32_t cores_in(const JobPage& page, const std::string& root = {});

/// How ranks wait when @p ranks share @p cores, unless the settings say otherwise.
[[nodiscard]] WaitPolicy choose_wait_policy(const RuntimeSettings& settings, std::uint32_t ranks,
                                            std::uint32_t cores);

}  // namespace viaduct
