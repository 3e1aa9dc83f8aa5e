/// Every layer's options, for the help text and the warning about unknown variables: the one place
/// above all layers.

#include <array>

#include "via/shm/settings.hpp"
#include "via/verbs/settings.hpp"
#include "via/vipl/settings.hpp"
#include "viaduct/am/settings.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/settings.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::config {

std::span<const Table> all_tables() noexcept {
  static const std::array<Table, 6> kTables{
      Table{"runtime", runtime_options()},
      Table{"shm", via::shm::options()},
      Table{"verbs", via::verbs::options()},
      Table{"vipl", via::vipl::options()},
      Table{"am", am::options()},
      Table{"splitc", splitc::options()},
  };
  return kTables;
}

}  // namespace viaduct::config
