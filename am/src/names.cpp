#include "viaduct/am/types.hpp"

#include "runtime/enum_name.hpp"

namespace viaduct::am {

const char* to_string(Undeliverable status) noexcept {
  constexpr const char* kNames[] = {
      "delivered",
      "wrong arguments, or the reply that its handler made was refused (EBADARGS)",
      "the index is not mapped (EBADENTRY): call map_all() or map() before the first "
      "message",
      "the endpoint has another tag (EBADTAG): map the index under the endpoint's tag",
      "no such handler there (EBADHANDLER): let that endpoint call set_handler() before the "
      "first message",
      "the offset lies outside the segment, or there is none (EBADSEGOFF): let that "
      "endpoint call make_segment() first, with enough bytes",
      "the data reach beyond the segment, or those of a call are longer than a medium "
      "message or than the room for the result (EBADLENGTH): let that endpoint "
      "make_segment() with more bytes, give more room, or send fewer",
      "the endpoint has ended, or was never made (EBADENDPOINT): let all ranks meet in "
      "Bundle::barrier() before they end; map_all() maps endpoint 0 of each rank, and an endpoint "
      "that is made later has another number",
      "congestion: a connection could not be made, for the reason that this rank or that one has "
      "printed, or both sides wait for replies alone (set_wait_run) (ECONGESTION)",
      "the peer is gone (EUNREACHABLE)",
      "the requester could not take the reply (EREPLYREJECTED)",
      "the kernel refuses access to the peer's private memory (EUNREACHABLE): let the peer "
      "make_segment() instead of set_segment(), or allow process_vm_readv and "
      "process_vm_writev",
  };
  return enum_name<Undeliverable::no_access>(kNames, status, "unknown status");
}

const char* to_string(Operation operation) noexcept {
  constexpr const char* kNames[] = {
      "short",
      "medium",
      "bulk",
      "get",
  };
  return enum_name<Operation::get>(kNames, operation, "unknown operation");
}

}  // namespace viaduct::am
