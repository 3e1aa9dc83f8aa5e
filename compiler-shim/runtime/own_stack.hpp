#pragma once
// The stack that splitc_main runs on: at one address in all processes, as on the machines of the
// time.

#include <cstdint>

namespace viaduct::shim {

/// Calls @p function with @p argument on a stack that ends a little below @p region, the address of
/// the shared region, and answers the result. Processes that make the same calls have their
/// automatic variables at the same addresses then, so that toglobal(i, &variable) names process
/// i's. The size is that of ulimit -s, at most a quarter of what lies below @p region. A gap that
/// nothing may access lies below the stack.
///
/// The caller's stack is used where the place is not free (VIADUCT_LOG=info says so), in programs
/// with a sanitizer, which knows the stacks that the system made, and on processors other than
/// x86-64. Exceptions, and debuggers, pass from one stack to the other. The stack stays mapped
/// until the process ends.
int call_on_own_stack(std::uint64_t region, int (*function)(void*), void* argument);

}  // namespace viaduct::shim
