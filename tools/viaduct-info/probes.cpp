#include "tools/viaduct-info/probes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cstdint>

#include "viaduct/runtime/file_descriptor.hpp"
#include "viaduct/runtime/wait.hpp"

namespace viaduct::info {

bool cross_memory_works() {
  std::uint64_t from = 1;
  std::uint64_t to = 0;
  const iovec here{&to, sizeof to};
  const iovec there{&from, sizeof from};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == sizeof to &&
         ::process_vm_writev(::getpid(), &here, 1, &there, 1, 0) == sizeof to;
}

bool membarrier_works() { return membarrier_register() && membarrier_global(); }

bool memory_files_work() {
  const FileDescriptor file(::memfd_create("viaduct-info", MFD_CLOEXEC));
  return file.is_open() && ::fallocate(file.get(), 0, 0, 4096) == 0;
}

bool pidfds_work() {
  const FileDescriptor self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return self.is_open();
}

}  // namespace viaduct::info
