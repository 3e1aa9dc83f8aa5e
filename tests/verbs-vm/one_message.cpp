/// @file
/// What a message costs over verbs in this project's own code, under callgrind: `one_message
/// COUNT`. Rank 0 sends COUNT requests, and rank 1 replies to each. callgrind collects, in one
/// part, the public call that sends a request, and in another part the poll that takes the reply
/// and runs its handler. The device's own functions are left out of both. In a third part,
/// callgrind collects the call that sends a request together with the device's functions.
///
/// callgrind writes a dump for each of the parts, and before them one for what turning collection
/// on and off costs, and one for what leaving out a device's function costs. The program prints how
/// often it has left one out.

#include <arpa/inet.h>
#include <valgrind/callgrind.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>

#include "via/verbs/src/library.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"

namespace {

using namespace viaduct;

std::uint64_t g_replies = 0;

void on_reply(am::Token&, std::uint64_t) { ++g_replies; }
void on_request(am::Token& token, std::uint64_t number) { token.reply<on_reply>(number); }

// Between this program and the device.
bool g_collecting = false;  // all but the device's functions
std::uint64_t g_left_out = 0;
via::verbs::Library g_real;
std::multimap<ibv_context*, std::function<void()>> g_put_back;  // the functions that are left out

template <class Call>
[[gnu::noinline]] auto leave_out(Call call) {
  if (!g_collecting) return call();
  CALLGRIND_TOGGLE_COLLECT;
  ++g_left_out;
  const auto result = call();
  CALLGRIND_TOGGLE_COLLECT;
  return result;
}

/// From here on @p function of the table of @p device is left out. There is one for each @p Tag.
template <class Tag, class Result, class... Arguments>
void leave_out_of(ibv_context* device, Result (*&function)(Arguments...)) {
  static Result (*real)(Arguments...) = function;
  g_put_back.emplace(device, [&function] { function = real; });
  function = [](Arguments... arguments) { return leave_out([&] { return real(arguments...); }); };
}

// The queue that notifications come from, and those that have been taken from the device already.
ibv_cq* g_notifications = nullptr;
std::deque<ibv_wc> g_early;
int (*g_poll_device)(ibv_cq*, int, ibv_wc*) = nullptr;

int take_completions(ibv_cq* queue, int most, ibv_wc* out) {
  if (queue == nullptr) return 0;  // asked for what leaving it out costs
  int n = 0;
  if (queue == g_notifications) {
    for (; n < most && !g_early.empty(); ++n) {
      out[n] = g_early.front();
      g_early.pop_front();
    }
    if (n != 0) return n;
  }
  n = g_poll_device(queue, most, out);
  if (n > 0 && out[0].opcode == IBV_WC_RECV_RDMA_WITH_IMM) g_notifications = queue;
  return n;
}
int poll_cq(ibv_cq* queue, int most, ibv_wc* out) {
  return leave_out([&] { return take_completions(queue, most, out); });
}
int (*volatile g_poll_cq)(ibv_cq*, int, ibv_wc*) = poll_cq;

/// Waits until a notification has come, which the next poll then takes.  @return whether it tells
/// of lines: its upper four bits are 0 (via/channel/remote.cpp).
bool await_notification() {
  ibv_wc wc;
  while (g_poll_device(g_notifications, 1, &wc) != 1) {
  }
  g_early.push_back(wc);
  return (ntohl(wc.imm_data) >> 28) == 0;
}

ibv_context* open_device(ibv_device* device) {
  ibv_context* const context = g_real.open_device(device);
  if (context == nullptr) return nullptr;
  leave_out_of<struct PostSend>(context, context->ops.post_send);
  leave_out_of<struct PostReceive>(context, context->ops.post_recv);
  leave_out_of<struct PostSharedReceive>(context, context->ops.post_srq_recv);
  g_poll_device = context->ops.poll_cq;
  context->ops.poll_cq = poll_cq;
  g_put_back.emplace(context, [context] { context->ops.poll_cq = g_poll_device; });
  return context;
}

int close_device(ibv_context* device) {
  g_put_back.erase(device);
  return g_real.close_device(device);
}

void step_between() {
  auto& library = const_cast<via::verbs::Library&>(via::verbs::library());
  g_real = library;
  library.open_device = open_device;
  library.close_device = close_device;
}

template <class Call>
auto collect(Call call) {
  g_collecting = true;
  CALLGRIND_TOGGLE_COLLECT;
  const auto result = call();
  CALLGRIND_TOGGLE_COLLECT;
  g_collecting = false;
  return result;
}

void print_left_out(const char* part) {
  std::printf("%s %llu\n", part, static_cast<unsigned long long>(g_left_out));
  g_left_out = 0;
}

/// Sends COUNT requests one by one. The handler of each reply runs in the first poll that can find
/// it. @return false: it did not.
bool send(am::Bundle& bundle, am::Endpoint& endpoint, std::uint64_t count, bool requests) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t before = g_replies;
    const auto request = [&] { return endpoint.request<on_request>(am::Index{1}, before); };
    if ((requests ? collect(request) : request()) != Status::ok) return false;
    while (!await_notification()) (void)bundle.poll();
    const auto poll = [&] { return bundle.poll(); };
    (void)(requests ? poll() : collect(poll));
    if (g_replies != before + 1) return false;
  }
  return true;
}

/// The same with the device's functions: from here on none is left out.
bool send_whole(am::Bundle& bundle, am::Endpoint& endpoint, std::uint64_t count) {
  for (const auto& [device, put_back] : g_put_back) put_back();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t before = g_replies;
    if (collect([&] { return endpoint.request<on_request>(am::Index{1}, before); }) != Status::ok ||
        bundle.wait_until([&] { return g_replies == before + 1; }) != Status::ok)
      return false;
  }
  return true;
}

bool measure(am::Bundle& bundle, am::Endpoint& endpoint, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) collect([] { return 0; });
  CALLGRIND_DUMP_STATS_AT("toggles");
  for (std::uint64_t i = 0; i < count; ++i) collect([] { return g_poll_cq(nullptr, 0, nullptr); });
  CALLGRIND_DUMP_STATS_AT("left_out");
  g_left_out = 0;
  if (!send(bundle, endpoint, count, true)) return false;
  CALLGRIND_DUMP_STATS_AT("request");
  print_left_out("request");
  if (!send(bundle, endpoint, count, false)) return false;
  CALLGRIND_DUMP_STATS_AT("arrival");
  print_left_out("arrival");
  if (!send_whole(bundle, endpoint, count)) return false;
  CALLGRIND_DUMP_STATS_AT("whole");
  return true;
}

int body(Job& job, int argc, char** argv) {
  if (job.size() != 2 || argc != 2) return 2;
  const std::uint64_t count = std::strtoull(argv[1], nullptr, 10);
  step_between();
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  if (index(job.rank()) == 0) {
    constexpr std::uint64_t kBefore = 20;  // connects
    for (std::uint64_t i = 0; i < kBefore; ++i) {
      const std::uint64_t before = g_replies;
      if (endpoint.request<on_request>(am::Index{1}, before) != Status::ok) return 1;
      if (bundle.wait_until([&] { return g_replies == before + 1; }) != Status::ok) return 1;
    }
    if (!measure(bundle, endpoint, count)) {
      std::fputs("a reply was not handed over in the poll that took its notification\n", stderr);
      return 1;
    }
  }
  return bundle.barrier() == Status::ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
