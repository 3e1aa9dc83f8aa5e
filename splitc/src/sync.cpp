#include "splitc/sync.hpp"

#include <algorithm>

#include "splitc/src/wait.hpp"

namespace viaduct::splitc {

void sync() {
  constexpr const char* kOperation = "sync";
  auto& parts = detail::machine(kOperation).parts();
  detail::light_poll();
  for (detail::Channel* c : parts.open) {
    const auto done = [&] { return parts.is_quiet(*c); };
    if (!done()) parts.wait(kOperation, c->process, done);
    c->open = false;
    c->last_transfer = 0;
  }
  parts.open.clear();
  detail::full_fence<detail::Fence::sync>();
}

bool is_sync() {
  auto& parts = detail::machine("is_sync").parts();
  parts.poll_now();
  return std::all_of(parts.open.begin(), parts.open.end(),
                     [&](detail::Channel* c) { return parts.is_quiet(*c); });
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
