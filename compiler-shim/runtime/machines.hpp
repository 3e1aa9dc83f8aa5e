#pragma once
// Definitions that the files for the machines of the time share (split-c/machines.h).

#include <cstddef>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "compiler-shim/runtime/c_callable.hpp"
#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

// The macros of the C header take their place.
#undef MYPROC
#undef PROCS
#undef PROCSLOG
#include <split-c/machines.h>

namespace viaduct::shim {

/// Ends the job: a program that goes on without this would answer nonsense.
[[noreturn]] inline void absent(const std::string& name, const char* machine, const char* instead) {
  throw Error(errors::old_machine, std::errc::not_supported,
              name + " is of the " + machine + " and does not exist here; use " + instead);
}

inline vsc_word at_process(int process, const void* address) {
  return vsc_toglobal(process, address);
}

/// Lets every process copy any part of the others' @p bytes at @p own: @p take(q, address) begins
/// gets from process q. Collective. Answers 0, or -1 when there is no room.
template <class Take>
int exchange_all(const void* own, std::size_t bytes, Take&& take) {
  char* const shared = static_cast<char*>(all_malloc(bytes));
  if (shared == nullptr) return -1;
  std::memcpy(shared, own, bytes);
  barrier();
  for (int q = 0; q < PROCS; ++q) take(q, shared);
  splitc_sync();
  all_free(shared);
  return 0;
}

/// Combines the @p bytes at @p own of processes 0 to @p last, in that order, into @p result:
/// @p apply(so_far, next) leaves its result in so_far. Collective. Answers 0, or -1 when there is
/// no room.
template <class Apply>
int fold_all(const void* own, void* result, std::size_t bytes, int last, Apply&& apply) {
  std::vector<char> all(static_cast<std::size_t>(last + 1) * bytes);
  const auto block = [&](int q) { return all.data() + static_cast<std::size_t>(q) * bytes; };
  const int code = exchange_all(own, bytes, [&](int q, const char* there) {
    if (q <= last) bulk_get(block(q), at_process(q, there), bytes);
  });
  if (code != 0) return code;
  for (int q = 1; q <= last; ++q) apply(block(0), block(q));
  std::memcpy(result, block(0), bytes);
  return 0;
}

}  // namespace viaduct::shim
