#include "am/src/arguments.hpp"

#include <exception>
#include <string>

#include "runtime/errors/codes.hpp"
#include "runtime/job_size.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::am::detail {
namespace {

/// Writes "CALL: " and the text that @p reason returns.
template <class Reason>
Status refuse(Job& job, const char* call, Reason&& reason) noexcept {
  try {
    job.log().write(LogLevel::warn,
                    with_code(errors::bad_argument, std::string(call) + ": " + reason()));
  } catch (const std::exception&) {  // no memory for the sentence
  }
  return Status::bad_argument;
}

}  // namespace

std::string Refusal::describe_mapped(const EndpointCore& core) {
  std::size_t count = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < core.table.size(); ++i) {
    if (!core.table.entries()[i].in_use) continue;
    ++count;
    last = i;
  }
  if (count == 0) return "no index is mapped: map_all() maps index r to rank r";
  return (count == 1 ? "1 index is mapped, "
                     : std::to_string(count) + " indices are mapped, the last is ") +
         std::to_string(last) + "; " + describe_ranks(core.bundle.job().size());
}

Status Refusal::index(const EndpointCore& core, const char* call, Index index) noexcept {
  return refuse(core.bundle.job(), call, [&] {
    return "index " + std::to_string(value(index)) +
           " is out of range: the translation table has the indices 0 to " +
           std::to_string(core.table.size() - 1) + " (set_translations()), and " +
           describe_mapped(core);
  });
}

Status Refusal::rank(const EndpointCore& core, Rank rank) noexcept {
  Job& job = core.bundle.job();
  return refuse(job, "map", [&] {
    return "rank " + std::to_string(viaduct::index(rank)) +
           " is out of range: " + describe_ranks(job.size());
  });
}

Status Refusal::unmapped(const EndpointCore& core, Index index) noexcept {
  return refuse(core.bundle.job(), "unmap", [&] {
    return "index " + std::to_string(value(index)) +
           " is not mapped: unmap what map() or map_all() has mapped, once";
  });
}

Status Refusal::length(const EndpointCore& core, const char* call, std::size_t bytes) noexcept {
  return refuse(core.bundle.job(), call, [&] {
    return std::to_string(bytes) + " bytes are too many: a medium message has at most " +
           std::to_string(core.max_medium) +
           " (max_medium()); send parts, send bulk data into a segment, or raise "
           "VIADUCT_AM_MEDIUM_BYTES";
  });
}

Status Refusal::reply_size(const EndpointCore& core, Operation reply, Operation request) noexcept {
  constexpr const char* kNames[] = {"short", "medium", "bulk", "get"};
  return refuse(core.bundle.job(), "a reply", [&] {
    return std::string("a ") + kNames[static_cast<int>(reply)] + " reply to a " +
           kNames[static_cast<int>(request)] +
           " request: with VIADUCT_AM_GENERATION=v1-strict a reply has at most its request's size, "
           "as in AMVIAv1; send a larger request, or set VIADUCT_AM_GENERATION=v1";
  });
}

Status Refusal::reply_length(const EndpointCore& core, std::size_t bytes, std::size_t most,
                             const char* limit) noexcept {
  return refuse(core.bundle.job(), "a reply", [&] {
    return std::to_string(bytes) + " bytes are too many: it has at most " + std::to_string(most) +
           " (" + limit + "); send fewer, or let the requester ask for each part";
  });
}

Status Refusal::null(const EndpointCore& core, const char* call, std::size_t bytes) noexcept {
  return refuse(core.bundle.job(), call, [&] {
    return "the data are null: give the address of " + std::to_string(bytes) +
           " bytes of this process";
  });
}

Status Refusal::handler(const EndpointCore& core, const char* call, std::size_t id) noexcept {
  return refuse(core.bundle.job(), call, [&] {
    return "handler " + std::to_string(id) +
           " is out of range: an endpoint's own table has the handlers 1 to " +
           std::to_string(kOwnHandlers - 1) +
           (id == 0 ? "; handler 0 is set by set_undeliverable_handler()" : "");
  });
}

Status Refusal::words(const EndpointCore& core, std::size_t count) noexcept {
  return refuse(core.bundle.job(), "a request by number", [&] {
    return std::to_string(count) + " words of arguments are too many: a message has at most " +
           std::to_string(kMaxArgs) + "; send more as the data of a medium message";
  });
}

}  // namespace viaduct::am::detail
