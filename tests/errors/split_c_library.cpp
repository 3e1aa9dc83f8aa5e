/// @file
/// A call of atomic() in a shared library.

#include "viaduct/splitc.hpp"

namespace {
void nothing() {}
}  // namespace

void call_from_library() { viaduct::splitc::atomic<nothing>(1 % PROCS); }
