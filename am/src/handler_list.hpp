#pragma once
/// @file
/// The typed handlers of a process in the order of their numbers, and the comparison of two such
/// lists.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/src/modules.hpp"
#include "viaduct/am/registry.hpp"

namespace viaduct::am {

/// A handler, named by values that are the same in every process of one build.
struct ListedHandler {
  std::string module;  ///< Module::identity
  std::uint64_t offset = 0;
  std::string name;
  std::uint32_t signature_bytes = 0;
  /// Which registrations are this handler (more than one: the same in two modules).
  std::vector<std::size_t> entries;
};

/// Sorts @p entries into the order of their numbers: by module, offset, name, signature. Throws
/// Error when one lies in no module (it was unloaded) or when a library is loaded twice, so that
/// two handlers could not be told apart.
[[nodiscard]] std::vector<ListedHandler> list_handlers(std::span<const HandlerEntry> entries,
                                                       std::span<const Module> modules);

/// The text that ranks compare: module, offset, signature and name, separated by tabs.
[[nodiscard]] std::string line_of(const ListedHandler& handler);

/// The digest of each handler's line, in the order of their numbers.
[[nodiscard]] std::vector<std::uint64_t> digests_of(std::span<const ListedHandler> list);

/// The first place where two such lists differ; the length of the shorter one when that is all of
/// it.
[[nodiscard]] std::size_t first_difference(std::span<const std::uint64_t> a,
                                           std::span<const std::uint64_t> b) noexcept;

/// One rank's side of a difference.
struct DifferingSide {
  std::uint32_t rank;
  std::string executable;
  std::string line;  ///< as of line_of; empty when the rank's list is shorter
};

/// The sentence about the handlers at @p place in two ranks' orders.
[[nodiscard]] std::string explain_difference(std::size_t place, const DifferingSide& a,
                                             const DifferingSide& b);

/// 64-bit FNV-1a.
[[nodiscard]] std::uint64_t digest(std::string_view text) noexcept;

}  // namespace viaduct::am
