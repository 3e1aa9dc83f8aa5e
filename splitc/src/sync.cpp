#include "viaduct/splitc/sync.hpp"

#include <algorithm>

#include "splitc/src/wait.hpp"

namespace viaduct::splitc {

void sync() {
  constexpr const char* kOperation = "sync";
  auto& impl = detail::machine(kOperation).impl();
  detail::light_poll();
  // By number: a wait may make channels, which moves the list.
  for (std::size_t i = 0; i < impl.open.size(); ++i) {
    detail::Channel* const c = impl.open[i];
    const auto done = [&] { return impl.is_quiet(*c); };
    if (!done()) impl.wait(kOperation, c->process, done);
    c->open = false;
    c->last_transfer = 0;
  }
  impl.open.clear();
  detail::full_fence<detail::Fence::sync>();
}

bool is_sync() {
  auto& impl = detail::machine("is_sync").impl();
  impl.look();
  return std::all_of(impl.open.begin(), impl.open.end(),
                     [&](detail::Channel* c) { return impl.is_quiet(*c); });
}

void force_path(Path path) {
  constexpr const char* kOperation = "force_path";
  detail::CollectiveEngine& collectives = detail::collective_engine(kOperation);
  const auto meet = [&] {
    if (detail::hot.procs == 1)
      collectives.alone(detail::CollectiveKind::force_path);
    else
      collectives.barrier(detail::kForcePathCall);
  };
  meet();
  detail::machine(kOperation).impl().force(path);
  meet();
}

void poll() { detail::machine("poll").poll(); }

namespace detail {

bool any_off_node() { return machine("splitc_main").impl().any_off_node; }
void post_backlog() { machine("barrier").impl().nic->post_backlog(); }

}  // namespace detail

}  // namespace viaduct::splitc
