#include "viaduct/am/types.hpp"

namespace viaduct::am {

const char* to_string(Undeliverable status) noexcept {
  switch (status) {
    case Undeliverable::none:
      return "delivered";
    case Undeliverable::bad_arguments:
      return "wrong arguments, or the reply that its handler made was refused (EBADARGS)";
    case Undeliverable::bad_entry:
      return "the index is not mapped (EBADENTRY): call map_all() or map() before the first "
             "message";
    case Undeliverable::bad_tag:
      return "the endpoint has another tag (EBADTAG): map the index under the endpoint's tag";
    case Undeliverable::bad_handler:
      return "no such handler there (EBADHANDLER): let that endpoint call set_handler() before the "
             "first message";
    case Undeliverable::bad_offset:
      return "the offset lies outside the segment, or there is none (EBADSEGOFF): let that "
             "endpoint call make_segment() first, with enough bytes";
    case Undeliverable::bad_length:
      return "the data reach beyond the segment, or those of a call are longer than a medium "
             "message or than the room for the result (EBADLENGTH): let that endpoint "
             "make_segment() with more bytes, give more room, or send fewer";
    case Undeliverable::bad_endpoint:
      return "the endpoint has ended, or was never made (EBADENDPOINT): let all ranks meet in "
             "Bundle::barrier() before they end";
    case Undeliverable::congestion:
      return "congestion: no memory for a connection, or both sides wait for replies alone "
             "(set_wait_run) (ECONGESTION)";
    case Undeliverable::unreachable:
      return "the peer is gone (EUNREACHABLE)";
    case Undeliverable::reply_rejected:
      return "the requester could not take the reply (EREPLYREJECTED)";
    case Undeliverable::no_access:
      return "the kernel refuses access to the peer's private memory (EUNREACHABLE): let the peer "
             "make_segment() instead of set_segment(), or allow process_vm_readv and "
             "process_vm_writev";
  }
  return "unknown status";
}

const char* to_string(Operation operation) noexcept {
  switch (operation) {
    case Operation::short_message:
      return "short";
    case Operation::medium:
      return "medium";
    case Operation::bulk:
      return "bulk";
    case Operation::get:
      return "get";
  }
  return "unknown operation";
}

}  // namespace viaduct::am
