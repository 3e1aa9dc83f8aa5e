#pragma once
/// @file
/// The NIC for the VIs that a benchmark of messages has beside them.

#include <memory>

#include "via/channel/nic.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::bench {

/// The NIC of the context's channels, or one of provider verbs: the former has VIs on one host
/// only.
class ViNic {
 public:
  /// @p verbs: the same in all ranks, each of which constructs then.
  ViNic(am::Context& context, bool verbs)
      : verbs_(verbs ? via::open_nic(context.job(), "verbs") : nullptr),
        nic_(verbs ? verbs_.get() : &context.nic()) {}

  [[nodiscard]] via::Nic& get() const noexcept { return *nic_; }

 private:
  std::unique_ptr<via::Nic> verbs_;
  via::Nic* nic_;
};

}  // namespace viaduct::bench
