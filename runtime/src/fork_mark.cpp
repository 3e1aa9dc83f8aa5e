#include <sys/mman.h>

#include "runtime/error.hpp"
#include "runtime/src/job_parts.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

ForkMark::ForkMark() {
  void* const at =
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    throw_errno("cannot map one page for the mark that tells a rank from its forked children");
  ::madvise(at, kPage,
            MADV_WIPEONFORK);  // where it is refused, children are not recognised: no other harm
  word_ = static_cast<std::uint32_t*>(at);
  *word_ = 1;
}

ForkMark::~ForkMark() { ::munmap(word_, kPage); }

}  // namespace viaduct
