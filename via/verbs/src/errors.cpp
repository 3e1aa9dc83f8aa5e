#include "via/verbs/src/errors.hpp"

#include <cerrno>

#include "runtime/errors/codes.hpp"
#include "via/memory_lock.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {

void throw_registration(int error, const std::string& what, std::size_t bytes) {
  const std::string start =
      "cannot register " + std::to_string(bytes) + " bytes as " + what + " with the RDMA device: ";
  if (error == ENOMEM || error == EAGAIN || error == EPERM)
    throw Error(errors::locked_memory, error, start + memory_lock_advice(memory_lock(), bytes));
  throw Error(errors::bad_memory_range, error,
              start +
                  "not all of the range is mapped in this process, or not with these "
                  "rights");
}

void throw_refused(int error, const std::string& sentence) {
  if (error != ENOMEM && error != EAGAIN) throw Error(errors::rdma_device, error, sentence);
  throw Error(errors::locked_memory, error, sentence + ": " + memory_lock_advice(memory_lock(), 0));
}

}  // namespace viaduct::via::verbs
