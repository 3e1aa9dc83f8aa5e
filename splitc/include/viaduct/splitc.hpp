#pragma once
/// @file
/// Split-C: a global address space over many processes, from C++. A program includes this, defines
/// splitc_main instead of main, and links viaduct::splitc.

#include "viaduct/runtime/language.hpp"

#include "viaduct/splitc/access.hpp"
#include "viaduct/splitc/alloc.hpp"
#include "viaduct/splitc/atomic.hpp"
#include "viaduct/splitc/bulk.hpp"
#include "viaduct/splitc/collective.hpp"
#include "viaduct/splitc/global_ptr.hpp"
#include "viaduct/splitc/path.hpp"
#include "viaduct/splitc/spread_ptr.hpp"
#include "viaduct/splitc/store.hpp"
#include "viaduct/splitc/sync.hpp"

/// The number of this process, and how many there are.
#define MYPROC (::viaduct::splitc::myproc())
#define PROCS (::viaduct::splitc::procs())

namespace splitc = viaduct::splitc;

namespace viaduct {
class Job;
}

namespace viaduct::splitc {

/// @return the job that the processes are the ranks of.  Call from: inside splitc_main.
[[nodiscard]] Job& job();

/// @return seconds since some moment, from a clock that does not jump.
[[nodiscard]] double get_seconds() noexcept;

/// Runs @p body in every process, between the collective start and end of Split-C, as main() of
/// viaduct::splitc runs splitc_main.  Collective. Blocks until all have returned.  @return the exit
/// code.
int run(int (*body)(int, char**), int argc, char** argv);

}  // namespace viaduct::splitc

/// The program. Called in every process, when all have started; ends when all have returned.
/// @return the exit code of this process.
extern "C" int splitc_main(int argc, char** argv);
