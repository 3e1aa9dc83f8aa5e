#pragma once
/// @file
/// Copies by non-temporal stores, one function per instruction set and walk. Each may be called
/// only where the CPU has its instructions.

#include <cstddef>

namespace viaduct::via::detail {

using StreamCopy = void (*)(void* to, const void* from, std::size_t bytes) noexcept;

void stream_sse2(void* to, const void* from, std::size_t bytes) noexcept;
void stream_avx2(void* to, const void* from, std::size_t bytes) noexcept;
void stream_avx512(void* to, const void* from, std::size_t bytes) noexcept;
void stream_sse2_paged(void* to, const void* from, std::size_t bytes) noexcept;
void stream_avx2_paged(void* to, const void* from, std::size_t bytes) noexcept;
void stream_avx512_paged(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace viaduct::via::detail
