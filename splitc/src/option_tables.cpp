/// Every layer's options, for the help text and the warning about unknown variables: the one place
/// above all layers.

#include <array>

#include "via/option_tables.hpp"
#include "viaduct/am/settings.hpp"
#include "viaduct/runtime/config.hpp"
#include "viaduct/runtime/settings.hpp"
#include "viaduct/splitc/settings.hpp"

namespace viaduct::config {

std::span<const Table> all_tables() noexcept {
  static const auto [shm, verbs, generations, vipl] = via::option_tables();
  static const std::array<Table, 7> kTables{
      Table{"runtime", runtime_options()},
      shm,
      verbs,
      generations,
      vipl,
      Table{"am", am::options()},
      Table{"splitc", splitc::options()},
  };
  return kTables;
}

}  // namespace viaduct::config
