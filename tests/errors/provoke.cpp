/// @file
/// Does what is refused, and prints what each refusal says: "NAME: TEXT".
///
///     viaduct-run -n 1 errors_provoke runtime|vi|messages|small_nic|open_nic|split_c_twice
///     viaduct-run -n 1 errors_provoke launcher_lost
///     viaduct-run -n 2 errors_provoke two_threads|other_host
///     viaduct-run -n 1 errors_provoke release|no_state|no_result|future_awaited|throw   these end
///     the program errors_provoke direct|vipl                           without viaduct::run()

#include <sys/socket.h>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "splitc/detail/machine.hpp"
#include "via/vipl/vipl.h"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/task.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/splitc.hpp"
#include "viaduct/via/completion_queue.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/vi.hpp"

namespace {

using namespace viaduct;

int failures = 0;

/// Prints the Error that @p act throws.
template <class Act>
void refused(const char* name, Act&& act) {
  try {
    act();
    std::printf("%s: nothing was refused\n", name);
    ++failures;
  } catch (const Error& error) {
    std::printf("%s: %s\n", name, error.what());
    if (std::string(error.what()).find(to_string(error.id())) == std::string::npos) ++failures;
  }
}

void try_runtime(Job& job) {
  refused("second job", [] { const Job second; });
  refused("rank beyond the job", [&] { (void)job.window_of(Rank{job.size()}); });
  refused("window full", [&] { (void)job.segment().allocate(std::size_t{1} << 50); });
  refused("alignment", [&] { (void)job.segment().allocate(8, 3); });
  refused("nothing published", [&] { (void)job.bootstrap().get(Rank{0}, "nothing"); });
  refused("long key", [&] { job.bootstrap().put(std::string(1000, 'k'), {}); });
}

void try_vi(Job& job) {
  refused("provider", [&] { (void)via::open_nic(job, "myrinet"); });
  refused("setting of provider fault", [&] { (void)via::open_nic(job, "fault(shm,X=1)"); });
  const auto nic = via::open_nic(job);
  const via::ProtectionTag tag = nic->create_tag();
  std::array<std::byte, 64> own{};
  refused("no such tag", [&] { nic->destroy_tag(static_cast<via::ProtectionTag>(4000)); });
  {
    const via::MemoryRegion region =
        nic->register_memory(tag, own.data(), own.size(), via::Rights::none);
    refused("tag in use", [&] { nic->destroy_tag(tag); });
  }
  refused("null memory",
          [&] { (void)nic->register_memory(tag, nullptr, 8, via::Rights::rdma_read); });
  refused("atomics on private memory",
          [&] { (void)nic->register_memory(tag, own.data(), own.size(), via::Rights::atomic); });
  refused("queue of no entries", [&] { (void)nic->create_completion_queue(0); });
  const auto queue = nic->create_completion_queue(8);
  via::ViAttributes attributes;
  attributes.tag = tag;
  attributes.send_depth = attributes.receive_depth = 4;
  attributes.send_queue = attributes.receive_queue = queue.get();
  if (nic->create_vi(attributes)->connect_peer_start(Rank{99}, 1) != Status::bad_argument)
    ++failures;
  refused("too many tags", [&] {
    while (true) (void)nic->create_tag();
  });
}

/// VIPL has a Job of its own. As a C library it answers by a code, and writes the sentence itself.
int open_two_providers() {
  VIP_NIC_HANDLE handle = nullptr;
  if (VipOpenNic("shm", &handle) != VIP_SUCCESS) ++failures;
  if (VipOpenNic("verbs", &handle) != VIP_ERROR_RESOURCE) ++failures;
  return failures != 0 ? 3 : 0;
}

/// With VIADUCT_SHM_REGIONS as small as it may be.
void try_small_nic(Job& job) {
  const auto nic = via::open_nic(job);
  const via::ProtectionTag tag = nic->create_tag();
  std::array<std::byte, 64> own{};
  std::vector<via::MemoryRegion> regions;
  refused("regions", [&] {
    while (true)
      regions.push_back(nic->register_memory(tag, own.data(), own.size(), via::Rights::none));
  });
}

void try_messages(Job& job) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  refused("table", [&] { endpoint.set_translations(70000); });
  refused("endpoint's number",
          [&] { const am::Endpoint again(bundle, am::kTagAll, endpoint.name().number); });
  const am::Index beyond{endpoint.translations()};
  if (endpoint.map(beyond, endpoint.name(), am::kTagAll) != Status::bad_argument) ++failures;
  if (endpoint.map(am::Index{0}, endpoint.name(), am::kTagAll) != Status::ok) ++failures;
  refused("map_all over map", [&] { endpoint.map_all(); });
}

void on_asked(am::Token& token) { (void)token.state<int>(); }

void ask_for_no_state(Job& job) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  if (endpoint.request<on_asked>(am::Index{0}) == Status::ok) (void)bundle.wait();
}

void use_no_result(Job&) { (void)am::Result<int>(am::Undeliverable::bad_entry).value(); }

int half(am::Token&, int n) { return n / 2; }
am::Task await_one(am::Future<int>& future) { (void)co_await future; }

void await_twice(Job& job) {
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  am::Future<int> future = endpoint.call<half>(am::Index{0}, 4);
  am::Task tasks[] = {await_one(future), await_one(future)};
  bundle.run(tasks);
}

void begin_split_c_twice(Job& job) {
  { const splitc::detail::Machine first(job); }
  refused("Split-C again", [&] { const splitc::detail::Machine second(job); });
}

void release_nothing(Job& job) { job.segment().release(12345 * 64); }

void open_nic(Job& job) {
  refused("nic", [&] { const am::Context context(job); });
}

/// Its socket is there, and nobody hears at the other end.
void lose_launcher(Job& job) {
  ::shutdown(std::atoi(std::getenv("VIADUCT_BOOTSTRAP_FD")), SHUT_RDWR);
  refused("launcher", [&] { (void)job.bootstrap().get(Rank{0}, "nothing"); });
}

/// Rank 0's second thread waits at a fence that rank 1 comes to last.
void use_job_from_two_threads(Job& job) {
  const auto barrier = [&job] {
    const std::uint32_t ticket = job.barrier_arrive();
    while (job.barrier_done(ticket) == Status::retry) std::this_thread::yield();
  };
  job.bootstrap().put("key", {});
  job.bootstrap().fence();
  if (job.rank() == Rank{0}) {
    std::thread other([&job] { job.bootstrap().fence(); });
    refused("two threads", [&] {
      while (true) (void)job.bootstrap().get(Rank{0}, "key");
    });
    barrier();
    other.join();
  } else {
    barrier();
    job.bootstrap().fence();
  }
}

void map_other_host(Job& job) {
  refused("other host", [&] { (void)job.window_of(Rank{1 - index(job.rank())}); });
}

void throw_something(Job&) { throw std::runtime_error("the cupboard is bare"); }

const std::pair<std::string_view, void (*)(Job&)> kKinds[] = {
    {"runtime", try_runtime},       {"vi", try_vi},
    {"small_nic", try_small_nic},   {"messages", try_messages},
    {"release", release_nothing},   {"no_state", ask_for_no_state},
    {"no_result", use_no_result},   {"split_c_twice", begin_split_c_twice},
    {"open_nic", open_nic},         {"launcher_lost", lose_launcher},
    {"other_host", map_other_host}, {"two_threads", use_job_from_two_threads},
    {"throw", throw_something},     {"future_awaited", await_twice},
};

int body(Job& job, int argc, char** argv) {
  for (const auto& [name, act] : kKinds) {
    if (argc < 2 || name != argv[1]) continue;
    act(job);
    return failures != 0 ? 3 : 0;
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == std::string_view("vipl")) return open_two_providers();
  if (argc > 1 && argv[1] == std::string_view("direct")) {
    refused("Job of threads", [] { const Job job; });
    return 0;
  }
  return viaduct::run(body, argc, argv);
}
