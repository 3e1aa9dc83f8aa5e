/// Messages that come back, for handler 0.

#include <algorithm>
#include <cstring>
#include <string>

#include "am/c/src/library.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::am::c {
namespace {

int status_of(Undeliverable why) noexcept {
  switch (why) {
    case Undeliverable::bad_arguments:
      return EBADARGS;
    case Undeliverable::bad_entry:
      return EBADENTRY;
    case Undeliverable::bad_tag:
      return EBADTAG;
    case Undeliverable::bad_handler:
      return EBADHANDLER;
    case Undeliverable::bad_offset:
      return EBADSEGOFF;
    case Undeliverable::bad_length:
      return EBADLENGTH;
    case Undeliverable::bad_endpoint:
      return EBADENDPOINT;
    case Undeliverable::congestion:
      return ECONGESTION;
    case Undeliverable::reply_rejected:
      return EREPLYREJECTED;
    case Undeliverable::none:
    case Undeliverable::unreachable:
    case Undeliverable::no_access:
      break;
  }
  return EUNREACHABLE;
}

op_t opcode_of(const Returned& returned) noexcept {
  const bool reply = returned.direction == Direction::reply;
  switch (returned.operation) {
    case Operation::short_message:
      return reply ? AM_REPLY_M : AM_REQUEST_M;
    case Operation::medium:
      return reply ? AM_REPLY_IM : AM_REQUEST_IM;
    case Operation::bulk:
      return reply ? AM_REPLY_XFER_M : AM_REQUEST_XFER_M;
    case Operation::get:
      break;
  }
  return AM_GET_XFER_M;
}

/// The packed arguments: the handler's number, then as many ints.
void unpack(const Returned& returned, AM_ArgBlock& block) noexcept {
  block.handler = -1;
  if (returned.args == nullptr || returned.arg_bytes < sizeof(int)) return;
  std::memcpy(&block.handler, returned.args, sizeof(int));
  const std::size_t count =
      std::min(returned.arg_bytes / sizeof(int) - 1, std::size_t{AM_MaxShort()});
  block.numargs = static_cast<int>(count);
  std::memcpy(block.arg, returned.args + sizeof(int), count * sizeof(int));
}

}  // namespace

void Port::returned(const Returned& returned) noexcept {
  AM_ArgBlock block = {};
  block.request_endpoint = handle;
  block.reply_endpoint = static_cast<int>(value(returned.peer));
  block.nbytes = returned.data_bytes;
  block.dest_offset = returned.offset;
  unpack(returned, block);
  const AM_Handler handler = on_returned_.load(std::memory_order_relaxed);
  if (handler == nullptr)
    violate_contract(
        errors::undeliverable,
        std::string("a message to index ") + std::to_string(block.reply_endpoint) + " (rank " +
            std::to_string(index(returned.rank)) + "), handler " + std::to_string(block.handler) +
            ", has come back: " + to_string(returned.status) +
            "; AM_SetHandler(endpoint, 0, handler) sets a handler for messages that come back");
  tell_event();
  void* const outer = current;
  AM_ArgBlock* const outer_block = returned_block;
  current = returning_mark();
  returned_block = &block;
  reinterpret_cast<void (*)(int, op_t, void*)>(handler)(status_of(returned.status),
                                                        opcode_of(returned), &block);
  returned_block = outer_block;
  current = outer;
}

}  // namespace viaduct::am::c
