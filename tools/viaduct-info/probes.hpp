#pragma once
/// @file
/// What the kernel lets this process do, by trying it.

namespace viaduct::info {

/// process_vm_readv and _writev on itself. errno says why not.
[[nodiscard]] bool cross_memory_works();
[[nodiscard]] bool membarrier_works();
/// A file in memory, and pages for it.
[[nodiscard]] bool memory_files_work();
[[nodiscard]] bool pidfds_work();

}  // namespace viaduct::info
