#include <fmt/format.h>
#include <string>

#include "tools/viaduct-info/report.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::info {
namespace {

template <class Value>
std::string line(const char* what, const Value& value, const char* unit = "") {
  return fmt::format("  {:<28} {} {}", what, value, unit).append("\n");
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

std::string provider(const via::NicAttributes& a) {
  std::string levels;
  if (a.unreliable) levels += "unreliable ";
  if (a.reliable_delivery) levels += "delivery ";
  if (a.reliable_reception) levels += "reception ";
  return fmt::format("Provider {}:\n", a.name) +
         line("largest transfer", a.max_transfer_bytes, "bytes") +
         line("data segments", a.max_segments, "of one descriptor") +
         line("queue depth", a.max_queue_depth, "descriptors") +
         line("completion queue", a.max_completion_queue, "entries") +
         line("memory regions", a.max_regions) +
         line("copied when posted", a.inline_bytes, "bytes and less") +
         line("immediate data", a.immediate_bits, "bits") +
         line("RDMA read", yes_or_no(a.rdma_read)) + line("atomics", yes_or_no(a.atomics)) +
         line("reliability", levels);
}

std::string messages(Job& job, am::Endpoint& endpoint) {
  const am::Endpoint::Footprint cost = endpoint.footprint();
  return "\nActive Messages:\n" + line("credits to a peer", endpoint.credits(), "requests") +
         line("largest medium message", endpoint.max_medium(), "bytes") +
         line("translation table", endpoint.translations(), "entries") +
         line("a rank by itself costs", job.segment().allocated_bytes(),
              "bytes of shared memory, before its first message") +
         line("a peer talked to costs", cost.per_active_peer,
              "bytes (pages that become resident in this rank)") +
         line("a peer never talked to", cost.per_idle_peer, "bytes");
}

}  // namespace

std::string job() {
  Job job;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  std::string text = provider(context.nic().attributes()) + messages(job, endpoint);
  const WaitPolicy& wait = job.wait_policy();
  text += fmt::format("\nThis job: {} rank{}; a wait {}, yields {} times, then blocks\n",
                      job.size(), job.size() == 1 ? "" : "s",
                      wait.spin_ticks == 0 ? "does not spin" : "spins", wait.yields);
  return text;
}

}  // namespace viaduct::info
