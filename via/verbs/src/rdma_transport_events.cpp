/// The transport's handling of a device's own events (ibv_get_async_event).

#include <string>

#include "runtime/errors/codes.hpp"
#include "via/verbs/src/rdma_transport.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::verbs {

void RdmaTransport::handle_device_events() noexcept {
  try {
    for (const Events::DeviceEvent& event : events_.take()) handle(event);
  } catch (const std::exception& e) {
    job_.log().write(LogLevel::error, e.what());
  }
}

void RdmaTransport::handle(const Events::DeviceEvent& event) {
  const auto say = [this](LogLevel level, const std::string& what) {
    job_.log().write(level, "verbs: port " + std::to_string(device_.port()) + " of device " +
                                device_.name() + " " + what);
  };
  switch (event.type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      reap_sends();  // a completion says more
      if (const auto found = links_.find(event.pair); found != links_.end())
        record_failure(*found->second, event.type == IBV_EVENT_QP_ACCESS_ERR ? IBV_WC_LOC_PROT_ERR
                                                                             : IBV_WC_FATAL_ERR);
      return;
    case IBV_EVENT_PORT_ERR:
      ++counters_[kPortsDown];
      return say(LogLevel::warn,
                 "is down: what is under way is repeated, and a peer that has not answered after "
                 "all repetitions (VIADUCT_VERBS_TIMEOUT, VIADUCT_VERBS_RETRIES) is lost");
    case IBV_EVENT_PORT_ACTIVE:
      return say(LogLevel::info, "is up again");
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_SRQ_ERR:
      say(LogLevel::error, "has failed: every peer that is reached by it is lost");
      for (const auto& [number, link] : links_) record_failure(*link, IBV_WC_FATAL_ERR);
      return;
    case IBV_EVENT_CQ_ERR:  // they have a place for every request
      violate_contract(errors::rdma_device, "a completion queue of RDMA device " + device_.name() +
                                                " has run over: an account of it is wrong");
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      ++counters_[kReceivesLow];
      receives_.post();
      return receives_.watch();
    default:
      return;
  }
}

}  // namespace viaduct::via::verbs
