#pragma once
/// @file
/// The typed handlers of a process in wire order, and the comparison of two such lists.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "am/registry.hpp"
#include "am/src/modules.hpp"

namespace viaduct::am {

/// A handler by what is the same in every process of one build.
struct ListedHandler {
  std::string module;  ///< Module::identity
  std::uint64_t offset = 0;
  std::string name;
  std::uint32_t signature_bytes = 0;
  std::vector<std::size_t>
      entries;  ///< which registrations are this handler (more than one: the same in two modules)
};

/// Sorts @p entries into wire order: by module, offset, name, signature. Throws Error when one lies
/// in no module (it was unloaded) or when a library is loaded twice, so that two handlers could not
/// be told apart.
[[nodiscard]] std::vector<ListedHandler> list_handlers(std::span<const HandlerEntry> entries,
                                                       std::span<const Module> modules);

/// One line per handler: what is compared between ranks.
[[nodiscard]] std::string to_text(std::span<const ListedHandler> list);

/// A rank's list as text, and whose it is.
struct RankList {
  std::uint32_t rank;
  std::string executable;
  std::string text;
};

/// The sentence about the first line in which the two lists differ.
[[nodiscard]] std::string explain_difference(const RankList& a, const RankList& b);

/// 64-bit FNV-1a.
[[nodiscard]] std::uint64_t digest(std::string_view text) noexcept;

}  // namespace viaduct::am
