#pragma once
/// @file
/// Telling a rank from the children that it forks.

#include <cstdint>
#include <string_view>

#include "viaduct/runtime/mapped_memory.hpp"

namespace viaduct {

/// A word that reads 1 here and 0 in every forked child: it lies in a page that the kernel clears
/// there.
class ForkMark {
 public:
  ForkMark();
  [[nodiscard]] const std::uint32_t* word() const noexcept {
    return reinterpret_cast<const std::uint32_t*>(page_.get());
  }

  /// Throws Error, naming @p call, in a forked child.
  void refuse_in_child(std::string_view call) const;

 private:
  MappedMemory page_;
};

}  // namespace viaduct
