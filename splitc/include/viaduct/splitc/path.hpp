#pragma once
/// @file
/// The path by which operations reach other processes' memory.

#include <cstdint>

namespace viaduct::splitc {

enum class Path : std::uint8_t {
  automatic,  ///< the fastest that there is
  direct,     ///< loads and stores of mapped memory
  rdma,       ///< the NIC's read and write; between hosts without the owner's part
  message,    ///< requests that the owner carries out in its polls
};

/// Collective. Forces one path from now on, as VIADUCT_SPLITC_PATH does from the start; memory that
/// it cannot reach is reached by messages. For tests and measurements. Accesses in the function
/// that calls this one may go by the path of before: the compiler may have looked already.
/// Precondition: nothing is outstanding.
///
/// Blocks      until all processes have called it.  Progress: a poll point.
/// Order       a full fence, as barrier().
/// Cost        two barriers; where rdma is forced for the first time, the registration of memory.
/// Errors      as barrier(), with this function's name.
void force_path(Path path);

}  // namespace viaduct::splitc
