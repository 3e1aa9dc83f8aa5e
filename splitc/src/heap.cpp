#include "splitc/detail/heap.hpp"

#include <atomic>

namespace viaduct::splitc::detail {
namespace {

std::atomic<HeapHook> g_hook{nullptr};

}  // namespace

void set_heap_hook(HeapHook hook) noexcept { g_hook.store(hook); }
HeapHook heap_hook() noexcept { return g_hook.load(); }

}  // namespace viaduct::splitc::detail
