#pragma once
/// @file
/// Whether this build has a sanitizer, for what a sanitizer does not bear: each brings memory, a
/// heap and handlers of signals of its own.

#if defined(__SANITIZE_ADDRESS__)  // g++
#define VIADUCT_ADDRESS_SANITIZER 1
#endif
#if defined(__SANITIZE_THREAD__)
#define VIADUCT_THREAD_SANITIZER 1
#endif
#if defined(__has_feature)  // clang
#if __has_feature(address_sanitizer)
#define VIADUCT_ADDRESS_SANITIZER 1
#endif
#if __has_feature(thread_sanitizer)
#define VIADUCT_THREAD_SANITIZER 1
#endif
#endif
#ifndef VIADUCT_ADDRESS_SANITIZER
#define VIADUCT_ADDRESS_SANITIZER 0
#endif
#ifndef VIADUCT_THREAD_SANITIZER
#define VIADUCT_THREAD_SANITIZER 0
#endif

namespace viaduct {

inline constexpr bool kAddressSanitizer = VIADUCT_ADDRESS_SANITIZER != 0;
inline constexpr bool kThreadSanitizer = VIADUCT_THREAD_SANITIZER != 0;

}  // namespace viaduct
