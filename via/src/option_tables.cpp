#include "via/option_tables.hpp"

#include "via/generations/settings.hpp"
#include "via/shm/settings.hpp"
#include "via/verbs/settings.hpp"
#include "via/vipl/settings.hpp"

namespace viaduct::via {

std::array<config::Table, 4> option_tables() noexcept {
  return {config::Table{"shm", shm::options()}, config::Table{"verbs", verbs::options()},
          config::Table{"generations", generations::options()},
          config::Table{"vipl", vipl::options()}};
}

}  // namespace viaduct::via
