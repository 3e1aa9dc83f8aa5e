/// Provider verbs of a build without libibverbs' headers.

#include "via/verbs/provider.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

namespace {
constexpr const char* kAbsent =
    "this build is without provider verbs: install the headers of libibverbs (Debian: "
    "libibverbs-dev), configure and build again";
}

std::unique_ptr<via::Nic> open(Job&, std::string_view) {
  throw Error(errors::rdma_device, std::errc::no_such_device, kAbsent);
}

std::unique_ptr<via::Transport> open_transport(Job&, std::string_view) {
  throw Error(errors::rdma_device, std::errc::no_such_device, kAbsent);
}

Found find_ports(std::string_view, std::uint32_t) { return {kAbsent, {}, -1}; }

}  // namespace viaduct::via::verbs
