#include "compiler-shim/runtime/own_stack.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "runtime/sanitizers.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/splitc.hpp"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#if defined(__x86_64__) && !VIADUCT_ADDRESS_SANITIZER && !VIADUCT_THREAD_SANITIZER

// int viaduct_call_on_stack(int (*function)(void*), void* argument, void* top): unwinding finds the
// frame by %rbp, which the called function preserves, so that it needs no data on either stack.
__asm__(
    ".pushsection .text\n"
    ".type viaduct_call_on_stack, @function\n"
    ".globl viaduct_call_on_stack\n"
    ".hidden viaduct_call_on_stack\n"
    "viaduct_call_on_stack:\n"
    ".cfi_startproc\n"
    "push %rbp\n"
    ".cfi_def_cfa_offset 16\n"
    ".cfi_offset %rbp, -16\n"
    "mov %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "mov %rdx, %rsp\n"
    "mov %rdi, %rax\n"
    "mov %rsi, %rdi\n"
    "call *%rax\n"
    "mov %rbp, %rsp\n"
    "pop %rbp\n"
    ".cfi_def_cfa %rsp, 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size viaduct_call_on_stack, . - viaduct_call_on_stack\n"
    ".popsection\n");
extern "C" int viaduct_call_on_stack(int (*function)(void*), void* argument, void* top);

namespace viaduct::shim {
namespace {

constexpr std::uint64_t kGap = std::uint64_t{1} << 20;  // as the system keeps below its own stacks
constexpr std::uint64_t kPage = 4096;

/// The user's limit for a stack, in whole pages.
std::uint64_t stack_bytes(std::uint64_t region) {
  std::uint64_t bytes = region / 4;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    bytes = std::min<std::uint64_t>(bytes, limit.rlim_cur);
  return bytes & ~(kPage - 1);
}

/// Maps the gap and, from @p top down, the stack; empty when other memory lies there.
MappedMemory map_stack(std::uint64_t top, std::uint64_t bytes) {
  void* const wanted = reinterpret_cast<void*>(top - bytes - kGap);
  MappedMemory stack(
      ::mmap(wanted, bytes + kGap, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0),
      bytes + kGap);
  if (!stack) return stack;
  if (stack.get() != wanted) {  // an old kernel takes the address as a hint
    errno = EEXIST;
    return {};
  }
  if (::mprotect(stack.get() + kGap, bytes, PROT_READ | PROT_WRITE) != 0) return {};
  // The pages become present one by one, as those of any stack.
  ::madvise(stack.get(), stack.bytes(), MADV_NOHUGEPAGE);
  return stack;
}

}  // namespace

int call_on_own_stack(std::uint64_t region, int (*function)(void*), void* argument) {
  const std::uint64_t top = region - kGap;
  const std::uint64_t bytes = stack_bytes(region);
  errno = 0;
  MappedMemory stack;
  if (region > 4 * kGap && bytes >= kGap) stack = map_stack(top, bytes);
  if (!stack) {
    splitc::job().log().write(
        LogLevel::info, fmt::format("the stack of splitc_main is the system's, at another address "
                                    "in each process: none of {} "
                                    "bytes can lie below {:#x} ({})",
                                    bytes, top, errno != 0 ? std::strerror(errno) : "no room"));
    return function(argument);
  }
  // Never unmapped: exit() may end the process in a function that runs on this stack.
  static_cast<void>(stack.release());
  return viaduct_call_on_stack(function, argument, reinterpret_cast<void*>(top));
}

}  // namespace viaduct::shim

#else

namespace viaduct::shim {

int call_on_own_stack(std::uint64_t, int (*function)(void*), void* argument) {
  return function(argument);
}

}  // namespace viaduct::shim

#endif
