#pragma once
/// @file
/// The context of Active Messages behind AM-2's calls of this process, for programs in C++ that use
/// both interfaces.

namespace viaduct::am {
class Context;
}

namespace viaduct::am::c {

/// @return the context of AM-2's endpoints; null before the first AM_Init has succeeded, and once
/// the process is ending. The context and its job are AM-2's own and end at the process' exit:
/// bundles that a program makes in the context end before. A handler of AM-2 must not call those
/// bundles or their endpoints: it would lose its token.  Blocks never.
[[nodiscard]] Context* underneath() noexcept;

}  // namespace viaduct::am::c
