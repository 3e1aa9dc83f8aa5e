#pragma once
/// @file
/// Settings of the Split-C layer and the table that describes them.

#include <cstdint>
#include <span>
#include <string>

#include "viaduct/runtime/config.hpp"

namespace viaduct::splitc {

struct Settings {
  std::string path;                ///< auto, direct, rdma, message
  std::string heap;                ///< shared, private
  std::int64_t rdma_from = 0;      ///< bytes that go by RDMA to another host, path auto, or kAuto
  bool off_node = false;           ///< as if no two processes could share memory
  std::int64_t vis = 0;            ///< VIs to one peer: 1, or 2 with bulk on one of its own
  std::int64_t slots = 0;          ///< of the ring to one peer, per direction
  std::int64_t credits = 0;        ///< k: requests to one peer that may be outstanding
  std::int64_t staging_bytes = 0;  ///< for blocks that messages carry
  std::int64_t segment_base = 0;   ///< address of the symmetric region
  std::int64_t spread_bytes = 0;   ///< its part for spread memory
  std::int64_t heap_bytes = 0;     ///< its part for malloc
  std::int64_t checked_bytes = 0;  ///< for accesses that `splitcc --checked` notes
  bool checked_fatal = false;      ///< a race that is found is a failure
};

/// @return the settings of Split-C, as viaduct-info lists them.
[[nodiscard]] std::span<const config::Option> options() noexcept;

/// From the environment, with automatic values filled in and checked against each other. Throws
/// Error.
[[nodiscard]] Settings load_settings();

}  // namespace viaduct::splitc
