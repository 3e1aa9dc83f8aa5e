#pragma once
/// @file
/// The operations that the kernel allows this process, found by trying them.

namespace viaduct::info {

/// process_vm_readv and _writev on itself. errno says why not.
[[nodiscard]] bool cross_memory_works();
[[nodiscard]] bool membarrier_works();
/// A file in memory, and pages for it.
[[nodiscard]] bool memory_files_work();
[[nodiscard]] bool pidfds_work();

}  // namespace viaduct::info
