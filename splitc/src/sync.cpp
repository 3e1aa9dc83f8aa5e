#include "splitc/sync.hpp"

#include "splitc/src/wait.hpp"

namespace viaduct::splitc {

void sync() {
  constexpr const char* kOperation = "sync";
  auto& parts = detail::machine(kOperation).parts();
  detail::light_poll();
  for (detail::Channel* c : parts.open) {
    const auto done = [&] {
      return c->replied >= c->last_get && parts.is_handled(*c, c->last_put);
    };
    if (!done()) parts.wait(kOperation, c->process, done);
    c->open = false;
  }
  parts.open.clear();
  detail::full_fence<detail::Fence::sync>();
}

bool is_sync() {
  auto& parts = detail::machine("is_sync").parts();
  parts.poll_now();
  for (const detail::Channel* c : parts.open)
    if (c->replied < c->last_get ||
        !parts.is_handled(const_cast<detail::Channel&>(*c), c->last_put))
      return false;
  return true;
}

void force_path(Path path) {
  barrier();
  detail::machine("force_path").parts().force(path);
  barrier();
}

void poll() { detail::machine("poll").poll(); }

namespace detail {

bool any_apart() { return machine("splitc_main").parts().any_apart; }
void carry_on() { machine("barrier").parts().nic->carry_on(); }

}  // namespace detail

}  // namespace viaduct::splitc
