#pragma once
/// @file
/// Settings of the Active Message layer and the table that describes them.

#include <cstddef>
#include <cstdint>
#include <span>

namespace viaduct::config {
struct Option;
}

namespace viaduct::am {

struct Settings {
  std::int64_t slots = 0;         ///< of a MAP's ring, per direction
  std::int64_t credits = 0;       ///< k: requests to one peer that may be outstanding
  std::int64_t medium_bytes = 0;  ///< of a MAP's medium ring, per direction
  std::int64_t poll_every = 0;    ///< slots sent to a peer between two polls; PollPace
};

/// @return the settings of Active Messages, as viaduct-info lists them.
[[nodiscard]] std::span<const config::Option> options() noexcept;

/// From the environment, with automatic values filled in and checked against each other. Throws
/// Error.
[[nodiscard]] Settings load_settings();

}  // namespace viaduct::am
