/// Accesses through aligned words to places where there is no memory.

#include <ucontext.h>
#include <algorithm>
#include <csignal>
#include <string>

#include <fmt/format.h>

#include "runtime/errors/codes.hpp"
#include "splitc/src/machine_impl.hpp"

namespace viaduct::splitc::detail {
namespace {

std::uint64_t distance() { return alignment.step - (std::uint64_t{1} << kProcessShift); }
std::uint64_t first_place() { return alignment.origin & (kAlignedBit - 1); }

/// What lies at a place that an aligned pointer has led to. A place between two regions is named
/// from the nearer one.
std::string named_by(std::uint64_t place) {
  const std::uint64_t from_before = place - first_place() + distance();
  std::uint64_t process = from_before / distance() - 1;
  std::uint64_t at = from_before % distance();
  if (at >= alignment.bytes && at - alignment.bytes > distance() - at) {
    ++process;
    at -= distance();
  }
  if (process >= hot.procs) return fmt::format("{:#x}, which is in no process' region", place);
  return fmt::format("{:#x} of process {}, where there is no memory", alignment.first + at,
                     process);
}

/// What the access was to do, by the processor's error code.
const char* operation_of([[maybe_unused]] const void* context) {
#ifdef __x86_64__
  constexpr greg_t kWrite = 2;
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  return (registers[REG_ERR] & kWrite) != 0 ? "write" : "read";
#else
  return "access";
#endif
}

/// The fault comes out of an access of the program and at no other moment, so that the handler may
/// do what the access itself could have done.
void on_fault(int signal, siginfo_t* info, void* context) {
  const auto place = reinterpret_cast<std::uint64_t>(info->si_addr);
  // Above, local pointers go astray, too.
  const std::uint64_t end =
      std::max(std::uint64_t{1} << 46, first_place() + (std::uint64_t{1} << 45));
  const bool sent = info->si_code <= 0;  // by raise() or kill()
  if (sent || hot.aligned_bit == 0 || place < first_place() - distance() || place >= end) {
    std::signal(signal, SIG_DFL);  // an access comes again, and ends the process
    if (sent) (void)std::raise(signal);
    return;
  }
  stop(errors::wild_pointer, operation_of(context),
       fmt::format("process {} names memory at {}: look where that pointer (a global one, or one of "
                   "the program's own) comes from",
                   hot.myproc, named_by(place)));
}

}  // namespace

void explain_wild_accesses() noexcept {
  struct sigaction now {};
  if (::sigaction(SIGSEGV, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigaction(SIGSEGV, &ours, nullptr);
}

}  // namespace viaduct::splitc::detail
