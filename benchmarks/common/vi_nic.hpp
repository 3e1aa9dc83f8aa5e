#pragma once
/// @file
/// The NIC for the VIs that a benchmark of messages has beside them.

#include <memory>
#include <string_view>

#include "via/channel/nic.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::bench {

/// The NIC of the context's channels, or one of its own where VIs are to be another provider's than
/// shm's: the context's NIC has VIs to ranks that share memory and that it reaches by no transport.
class ViNic {
 public:
  /// @p provider: the same in all ranks, each of which constructs then.
  ViNic(am::Context& context, std::string_view provider)
      : own_(provider != "shm" ? via::open_nic(context.job(), provider) : nullptr),
        nic_(own_ != nullptr ? own_.get() : &context.nic()) {}

  [[nodiscard]] via::Nic& get() const noexcept { return *nic_; }

 private:
  std::unique_ptr<via::Nic> own_;
  via::Nic* nic_;
};

}  // namespace viaduct::bench
