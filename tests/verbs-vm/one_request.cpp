/// @file
/// What a request costs over verbs, under callgrind: `one_request COUNT`. Rank 0 sends COUNT
/// requests each of whose instructions are collected from the public call to the entry of the
/// device's post_send, and COUNT more that are collected in there; rank 1 answers each. Before, as
/// often, what turning collection on and off costs itself. callgrind writes a dump for each of the
/// three.

#include <valgrind/callgrind.h>

#include <cstdlib>

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
enum class Part { nothing, way_there, device };
Part g_part = Part::nothing;
via::verbs::Library g_real;
int (*g_post_send)(ibv_qp*, ibv_send_wr*, ibv_send_wr**) = nullptr;

int post_send(ibv_qp* pair, ibv_send_wr* chain, ibv_send_wr** bad) {
  const Part part = g_part;
  g_part = Part::nothing;  // a poll behind the request may post, too
  if (part == Part::nothing) return g_post_send(pair, chain, bad);
  CALLGRIND_TOGGLE_COLLECT;
  const int status = g_post_send(pair, chain, bad);
  if (part == Part::device) CALLGRIND_TOGGLE_COLLECT;
  return status;
}

ibv_context* open_device(ibv_device* device) {
  ibv_context* context = g_real.open_device(device);
  if (context == nullptr) return nullptr;
  g_post_send = context->ops.post_send;
  context->ops.post_send = post_send;
  return context;
}

void step_between() {
  auto& library = const_cast<via::verbs::Library&>(via::verbs::library());
  g_real = library;
  library.open_device = open_device;
}

int body(Job& job, int argc, char** argv) {
  if (job.size() != 2 || argc != 2) return 2;
  const std::uint64_t count = std::strtoull(argv[1], nullptr, 10);
  step_between();
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  const auto send = [&](Part part) {
    const std::uint64_t before = g_replies;
    g_part = part;
    if (part == Part::way_there) CALLGRIND_TOGGLE_COLLECT;
    const Status sent = endpoint.request<on_request>(am::Index{1}, before);
    return sent == Status::ok && g_part == Part::nothing &&
           bundle.wait_until([&] { return g_replies == before + 1; }) == Status::ok;
  };
  if (index(job.rank()) == 0) {
    constexpr std::uint64_t kBefore = 20;  // connects
    for (std::uint64_t i = 0; i < kBefore; ++i)
      if (!send(Part::nothing)) return 1;
    for (std::uint64_t i = 0; i < count; ++i) {
      CALLGRIND_TOGGLE_COLLECT;
      CALLGRIND_TOGGLE_COLLECT;
    }
    CALLGRIND_DUMP_STATS_AT("toggles");
    for (const Part part : {Part::way_there, Part::device}) {
      for (std::uint64_t i = 0; i < count; ++i)
        if (!send(part)) return 1;
      if (part == Part::way_there)
        CALLGRIND_DUMP_STATS_AT("way_there");
      else
        CALLGRIND_DUMP_STATS_AT("device");
    }
  }
  return bundle.barrier() == Status::ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
