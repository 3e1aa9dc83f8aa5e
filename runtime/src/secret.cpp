#include "runtime/src/secret.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <cerrno>
#include <vector>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr std::size_t kNewSecretBytes = 32;

}  // namespace

Digest authenticate(std::span<const std::byte> key,
                    std::initializer_list<std::span<const std::byte>> parts) {
  std::vector<std::byte> message;
  for (const auto& part : parts) message.insert(message.end(), part.begin(), part.end());
  Digest digest{};
  unsigned int bytes = 0;
  const auto* const made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(message.data()), message.size(),
           reinterpret_cast<unsigned char*>(digest.data()), &bytes);
  if (made == nullptr || bytes != digest.size())
    throw Error(errors::system_refused, std::errc::not_supported,
                "libcrypto refuses HMAC-SHA-256, by which the processes of a job know each other");
  return digest;
}

bool equal_digests(const Digest& a, const Digest& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void fill_random(std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + done, bytes.size() - done, 0);
    if (got < 0 && errno != EINTR) throw_errno(errors::system_refused, "cannot get random bytes");
    if (got > 0) done += static_cast<std::size_t>(got);
  }
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte each : bytes) {
    const auto value = std::to_integer<unsigned>(each);
    text += kDigits[value >> 4U];
    text += kDigits[value & 15U];
  }
  return text;
}

std::string new_secret() {
  std::array<std::byte, kNewSecretBytes> bytes{};
  fill_random(bytes);
  return hexadecimal(bytes);
}

}  // namespace viaduct
