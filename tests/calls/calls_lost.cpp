/// @file
/// What callers see when the last rank ends while calls to it are under way: each call is answered
/// or fails with unreachable, that in whose handler the rank ends, too. Each survivor prints
/// "survived".
///
///     viaduct-run -n 3 --keep-going calls_lost killed|leaves|replied
///
/// replied: it ends with calls that it has put off, behind more messages of the survivors than the
/// ring holds. Their calls fail, and nothing else comes back.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace am = viaduct::am;

namespace {

struct Victim {
  std::string_view how;
  std::uint64_t calls = 0;
};

std::uint64_t count(am::Token& token, std::uint64_t x) {
  Victim& victim = token.state<Victim>();
  if (victim.how != "" && ++victim.calls == 25) {
    if (victim.how == "leaves") std::_Exit(0);
    std::raise(SIGKILL);
  }
  return x + 1;
}

void on_echoed(am::Token&) {}
void on_echo(am::Token& token) { token.reply<on_echoed>(); }

/// Handles the first call of each survivor; puts off the others, has the survivors reply to it more
/// often than their rings have slots, and ends.
[[noreturn]] void end_behind_replies(viaduct::Job& job, am::Endpoint& endpoint, Victim& victim) {
  am::Bundle& bundle = endpoint.bundle();
  const std::uint32_t survivors = job.size() - 1;
  (void)bundle.wait_until([&] { return victim.calls == survivors; });
  job.bootstrap().fence();
  job.bootstrap().fence();  // the calls are in their rings
  (void)bundle.poll(am::Bundle::Run::replies);
  endpoint.set_wait_run(am::Bundle::Run::replies);
  for (int i = 0; i < 300; ++i)
    for (std::uint32_t r = 0; r < survivors; ++r) (void)endpoint.request<on_echo>(am::Index{r});
  std::raise(SIGKILL);
  std::abort();
}

int survive_behind_replies(viaduct::Job& job, am::Endpoint& endpoint) {
  std::uint64_t back = 0;
  endpoint.set_undeliverable_handler([&](const am::Returned&) { ++back; });
  const am::Index last{job.size() - 1};
  bool right = endpoint.call<count>(last, 1).wait().error() == am::Undeliverable::none;
  job.bootstrap().fence();
  std::vector<am::Future<std::uint64_t>> calls;
  for (std::uint64_t i = 0; i < 5; ++i) calls.push_back(endpoint.call<count>(last, i));
  job.bootstrap().fence();
  for (auto& call : calls) right = call.wait().error() == am::Undeliverable::unreachable && right;
  if (right && back == 0) return std::printf("survived\n"), 0;
  std::printf("%d, and %llu messages came back\n", right, static_cast<unsigned long long>(back));
  return 1;
}

int body(viaduct::Job& job, int argc, char** argv) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  const bool dies = index(job.rank()) + 1 == job.size();
  Victim victim{dies && argc > 1 ? argv[1] : "", 0};
  endpoint.set_state(victim);
  if (bundle.barrier() != viaduct::Status::ok) return 1;
  if (argc > 1 && std::string_view(argv[1]) == "replied") {
    if (!dies) return survive_behind_replies(job, endpoint);
    end_behind_replies(job, endpoint, victim);
  }
  if (dies) {
    (void)bundle.wait_until([] { return false; });
    return 1;
  }
  const am::Index last{job.size() - 1};
  std::vector<am::Future<std::uint64_t>> calls;
  std::uint64_t told = 0;
  for (std::uint64_t i = 0; i < 40; ++i) calls.push_back(endpoint.call<count>(last, i));
  auto then = endpoint.call<count>(last, 1).then(
      [&](am::Result<std::uint64_t> r) { told += r.error() == am::Undeliverable::unreachable; });
  std::uint64_t answered = 0, lost = 0;
  for (std::uint64_t i = 0; i < calls.size(); ++i) {
    const auto result = calls[i].wait();
    answered += result && *result == i + 1;
    lost += result.error() == am::Undeliverable::unreachable;
  }
  (void)then.wait();
  const bool later = endpoint.call<count>(last, 1).wait().error() == am::Undeliverable::unreachable;
  const bool right = answered + lost == 40 && lost >= 16 && told == 1 && later;
  if (right) return std::printf("survived\n"), 0;
  std::printf("%llu answered, %llu lost, %llu told, %d\n",
              static_cast<unsigned long long>(answered), static_cast<unsigned long long>(lost),
              static_cast<unsigned long long>(told), later);
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
