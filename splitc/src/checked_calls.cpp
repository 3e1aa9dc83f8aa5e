/// The functions that checked sources call (viaduct/splitc/detail/here.hpp).

#include "viaduct/splitc/detail/checked_calls.hpp"

#include <fmt/format.h>
#include <atomic>
#include <cstring>
#include <string_view>

#include "runtime/errors/codes.hpp"
#include "splitc/detail/machine.hpp"
#include "splitc/src/checks.hpp"
#include "viaduct/splitc/atomic.hpp"
#include "viaduct/splitc/store.hpp"
#include "viaduct/splitc/sync.hpp"

namespace viaduct::splitc::detail {
namespace {

std::atomic<bool> g_asked{false};

/// A checksum: it differs when one byte does.
std::uint64_t sum_of(const void* from, std::size_t bytes) noexcept {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  const auto* const at = static_cast<const std::byte*>(from);
  std::uint64_t sum = bytes;
  const auto add = [&sum](std::uint64_t word) { sum = ((sum << 23 | sum >> 41) ^ word) * kMix; };
  std::uint64_t word = 0;
  std::size_t done = 0;
  for (; bytes - done >= sizeof word; done += sizeof word) {
    std::memcpy(&word, at + done, sizeof word);
    add(word);
  }
  if (done == bytes) return sum;
  word = 0;
  std::memcpy(&word, at + done, bytes - done);
  add(word);
  return sum;
}

}  // namespace

bool ask_for_checks() noexcept {
  g_asked.store(true);
  return true;
}

bool checks_are_asked_for() noexcept { return g_asked.load(); }

void check_access(const char* operation, std::uint64_t word, std::size_t bytes, Located at) {
  const void* const code = __builtin_return_address(0);
  if (hot.machine == nullptr) return;  // the operation itself says so
  if (Checks* const checks = hot.machine->memory().checks())
    checks->check(operation, hot.myproc, word, bytes, {at.file, at.line, code});
}

/// Sums up bytes that are not copied at once: those of a bulk store, and those that messages take.
Source<Located>::Source(Located at, const char* operation, std::uint64_t to, const void* from,
                        std::size_t bytes) noexcept
    : at_(at), operation_(operation), to_(to), from_(from), bytes_(bytes), sum_(0) {
  const bool copied = process_of(to) == hot.myproc ||
                      (place_of(to) != nullptr && std::string_view(operation) != "bulk_store");
  const bool refused = from == nullptr || hot.machine == nullptr || bytes > kAddressMask;
  if (copied || refused) bytes_ = 0;
  if (bytes_ != 0) sum_ = sum_of(from_, bytes_);
}

void Source<Located>::check() const {
  if (bytes_ == 0 || sum_of(from_, bytes_) == sum_) return;
  stop(errors::source_changed, with_place(operation_, {at_.file, at_.line, nullptr}).c_str(),
       fmt::format("the {} bytes at {} have changed while they were sent to process {}: let no "
                   "other process, and no function that atomic() runs, write there before the "
                   "call has returned",
                   bytes_, from_, process_of(to_)));
}

/// Other processes read the name in their own copy of the program: a name outside the program is
/// not shown.
CallScope<Located>::CallScope(Located at) noexcept : before_(call_place) {
  if (at.file == nullptr || hot.machine == nullptr) return;
  const Memory& memory = hot.machine->memory();
  if (!memory.is_in_program(at.file)) return;
  call_place = {nullptr, reinterpret_cast<const char*>(memory.globalize(at.file)), at.line};
}

void plain_barrier() { splitc::barrier(); }
void plain_barrier_notify() { splitc::barrier_notify(); }
void plain_all_store_sync() { splitc::all_store_sync(); }
void plain_lock(global_ptr<lock_t> l) { splitc::lock(l); }
bool plain_try_lock(global_ptr<lock_t> l) { return splitc::try_lock(l); }
void plain_unlock(global_ptr<lock_t> l) { splitc::unlock(l); }

}  // namespace viaduct::splitc::detail
