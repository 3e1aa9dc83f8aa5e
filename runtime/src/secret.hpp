#pragma once
/// @file
/// The job's secret and the proofs that are made with it. The algorithms are libcrypto's.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace viaduct {

using Digest = std::array<std::byte, 32>;  // HMAC-SHA-256

/// The digest of the parts, one behind the other.
[[nodiscard]] Digest authenticate(std::span<const std::byte> key,
                                  std::initializer_list<std::span<const std::byte>> parts);

/// Compares in a time that does not depend on where they differ.
[[nodiscard]] bool equal_digests(const Digest& a, const Digest& b) noexcept;

/// Random bytes from the kernel.  Throws Error.
void fill_random(std::span<std::byte> bytes);

[[nodiscard]] std::string hexadecimal(std::span<const std::byte> bytes);

[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}
template <class Plain>
[[nodiscard]] std::span<const std::byte> bytes_of_object(const Plain& object) noexcept {
  return std::as_bytes(std::span(&object, 1));
}

/// A new secret, in letters.
[[nodiscard]] std::string new_secret();

/// Shorter ones could be guessed.
inline constexpr std::size_t kMinSecretBytes = 16;

}  // namespace viaduct
