#pragma once
/// @file
/// The objects behind VIPL's calls of this process, for C++ programs that use both interfaces.

namespace viaduct {
class Job;
}

namespace viaduct::via {
class Nic;
}

namespace viaduct::via::vipl {

/// The process' Job and the provider's NIC. Both are VIPL's own and end at the process' exit.
struct Underneath {
  Job* job = nullptr;
  via::Nic* nic = nullptr;
};

/// @return both null before the first VipOpenNic has succeeded, and once the process is ending.
/// The NIC's objects belong to one thread, the one that calls VIPL, and must end before exit()
/// does. Its on_error() and on_incoming_peer() are VIPL's, and must not be set.  Blocks never.
[[nodiscard]] Underneath underneath() noexcept;

}  // namespace viaduct::via::vipl
