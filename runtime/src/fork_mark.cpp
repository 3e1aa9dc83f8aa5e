#include <fmt/format.h>
#include <sys/mman.h>
#include <new>

#include "runtime/errors/codes.hpp"
#include "runtime/src/fork_mark.hpp"
#include "runtime/src/rank_name.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kPage = 4096;

}  // namespace

ForkMark::ForkMark()
    : page_(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            kPage) {
  if (!page_)
    throw_errno(errors::system_refused,
                "cannot map one page for the mark that tells a rank from its forked children");
  // Where it is refused, children are not recognised: no other harm.
  ::madvise(page_.get(), kPage, MADV_WIPEONFORK);
  new (page_.get()) std::uint32_t{1};
}

void ForkMark::refuse_in_child(std::string_view call) const {
  if (*word() != 0) return;
  throw Error(errors::forked_child, std::errc::operation_not_permitted,
              fmt::format("{}{} was called in a child that the rank forked: only the rank itself "
                          "may use the job; the "
                          "child may exec or _exit",
                          rank_prefix(), call));
}

}  // namespace viaduct
