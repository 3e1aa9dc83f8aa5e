/// @file
/// Bulk and get into and out of private memory that a peer gave as its segment.
///
///     viaduct-run -n 2 am_cross_memory [refused]
///
/// "refused": the kernel lets processes read each other's memory and not write it, which a rank
/// cannot find out by itself. What is told then is that, and not that the peer were gone. In both
/// forms the segment is unmapped in the end, and that is told, too.

#include <sys/mman.h>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace {

using namespace viaduct;

constexpr std::size_t kBytes = 8192;

std::uint64_t g_handled = 0;
std::vector<am::Undeliverable> g_back;
bool g_wrong = false;

void on_done(am::Token&) { ++g_handled; }
void on_bulk(am::Token& token, std::span<std::byte>) { token.reply<on_done>(); }
void on_got(am::Token&, std::span<std::byte>) { ++g_handled; }

void expect(bool passed, const char* what) {
  if (passed) return;
  std::printf("not so: %s\n", what);
  g_wrong = true;
}

/// One of the two must happen soon: it is handled, or comes back with @p why.
void expect_end(am::Bundle& bundle, am::Undeliverable why, const char* what) {
  const std::uint64_t before = g_handled;
  const auto ended = [&] { return g_handled != before || !g_back.empty(); };
  if (g_back.empty()) expect(bundle.wait_until(ended, 30'000'000'000) == Status::ok, "it ends");
  const am::Undeliverable got = g_back.empty() ? am::Undeliverable::none : g_back.front();
  expect(got == why, what);
  if (got != why) std::printf("%s: %s\n", what, to_string(got));
  g_back.clear();
}

void send(am::Endpoint& endpoint, am::Bundle& bundle, am::Undeliverable bulk,
          am::Undeliverable get) {
  std::vector<std::byte> data(kBytes);
  const am::Index peer{1};
  expect(endpoint.request_bulk<on_bulk>(peer, std::span(data), 0) == Status::ok, "request_bulk");
  expect_end(bundle, bulk, "bulk");
  const std::uint64_t before = g_handled;
  expect(endpoint.get<on_got>(peer, std::span(data), 0) == Status::ok, "get");
  if (get == am::Undeliverable::none)
    expect(g_handled == before + 1 || bundle.wait_until([&] { return g_handled == before + 1; },
                                                        30'000'000'000) == Status::ok,
           "get ends");
  else
    expect_end(bundle, get, "get");
}

/// Data that the receiver would copy itself (4 KiB and more, in the sender's window), if it came in
/// time: it sleeps, so that the sender copies.
void send_to_sleeper(am::Endpoint& endpoint, am::Bundle& bundle, bool sends,
                     am::Undeliverable end) {
  constexpr timespec kNap{0, 50'000'000};
  constexpr timespec kSleep{0, 300'000'000};
  ::nanosleep(sends ? &kNap : &kSleep, nullptr);
  if (!sends) return;
  am::Endpoint spare(bundle);
  const std::span<std::byte> data = spare.make_segment(kBytes);
  expect(endpoint.request_bulk<on_bulk>(am::Index{1}, data, 0) == Status::ok, "request_bulk");
  expect_end(bundle, end, "bulk from the window");
}

int body(Job& job, int argc, char** argv) {
  const bool refused = argc > 1 && std::string_view(argv[1]) == "refused";
  if (job.size() != 2 || job.threads_mode()) return 2;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  endpoint.set_undeliverable_handler(
      [](const am::Returned& returned) { g_back.push_back(returned.status); });
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  endpoint.set_segment({static_cast<std::byte*>(memory), kBytes});
  using am::Undeliverable;
  const bool sends = index(job.rank()) == 0;
  if (bundle.barrier() != Status::ok) return 1;
  if (sends)
    send(endpoint, bundle, refused ? Undeliverable::no_access : Undeliverable::none,
         Undeliverable::none);
  if (bundle.barrier() != Status::ok) return 1;
  send_to_sleeper(endpoint, bundle, sends,
                  refused ? Undeliverable::no_access : Undeliverable::none);
  if (bundle.barrier() != Status::ok) return 1;
  ::munmap(memory, kBytes);
  if (bundle.barrier() != Status::ok) return 1;
  if (sends)
    send(endpoint, bundle, refused ? Undeliverable::no_access : Undeliverable::bad_offset,
         Undeliverable::bad_offset);
  if (bundle.barrier() != Status::ok) return 1;
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
