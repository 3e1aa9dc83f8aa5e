#pragma once
/// @file
/// Provider fault: another provider with delays and failures that its name asks for, as in
/// "fault(shm,L=2000,drop=0.01)". Settings: docs/fault-provider.md.

#include <memory>
#include <string>
#include <string_view>

#include "viaduct/via/nic.hpp"

namespace viaduct::via::fault {

/// @return whether @p name is one of provider fault: it begins with "fault(".  Never blocks.
[[nodiscard]] bool is_fault(std::string_view name) noexcept;

/// @return the name of the provider underneath.  Throws Error, which names the part of @p name that
/// is wrong and what may stand there.
[[nodiscard]] std::string provider_under(std::string_view name);

/// Opens the NIC that @p name asks for, and the provider underneath. Rank 0 prints the settings.
/// Collective. Throws Error for a bad setting, and what the provider throws.
[[nodiscard]] std::unique_ptr<via::Nic> open(Job& job, std::string_view name);

}  // namespace viaduct::via::fault
