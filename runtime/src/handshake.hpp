#pragma once
/// @file
/// How a connection to the hub begins: both sides prove that they know the job's secret.
///
///     hub     HubHello       a nonce
///     caller  CallerHello    its identity, a nonce, HMAC(secret, nonces and identity)
///     hub     Verdict        welcome or why not, HMAC(secret, nonces and verdict)

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/src/link.hpp"
#include "runtime/src/secret.hpp"

namespace viaduct::handshake {

using Nonce = std::array<std::byte, 32>;
using Mark = std::array<char, 8>;

inline constexpr Mark kMark{'V', 'I', 'A', 'D', 'U', 'C', 'T', '3'};
inline constexpr std::uint32_t kByteOrder = 0x01020304;

enum class Role : std::uint32_t { rank = 1, agent = 2 };

struct HubHello {
  Mark mark;
  std::uint32_t byte_order;
  std::uint32_t reserved;
  Nonce nonce;
};
static_assert(sizeof(HubHello) == 48);

/// Caller::size of a rank that leaves it to rank 0 to say how many ranks there are.
inline constexpr std::uint32_t kAskRankZero = 0;

/// The caller, as it names itself. Texts end with a zero.
struct Caller {
  Role role;
  std::uint32_t rank;  ///< of an agent: its host's number
  std::uint32_t size;  ///< kAskRankZero: the hub says it
  std::int32_t pid;
  std::array<char, 64> host_key;
  std::array<char, 64> host_name;
};
static_assert(sizeof(Caller) == 144);

struct CallerHello {
  Mark mark;
  std::uint32_t byte_order;
  std::uint32_t reserved;
  Caller caller;
  Nonce nonce;
  Digest proof;
};
static_assert(sizeof(CallerHello) == 224);

enum class Answer : std::uint32_t { welcome = 1, refused = 2, wrong_secret = 3 };

struct Verdict {
  Mark mark;
  Answer answer;
  std::uint32_t reserved;
  std::array<char, 496> sentence;
  Digest proof;
};
static_assert(sizeof(Verdict) == 544);

/// The hub's side, one step at a time.
class Greeting {
 public:
  explicit Greeting(std::string_view secret);
  [[nodiscard]] const HubHello& hello() const noexcept { return hello_; }

  enum class Outcome : std::uint8_t { proved, wrong_secret, no_viaduct };
  /// Judges the caller's answer.
  [[nodiscard]] Outcome judge(const CallerHello& answer);
  [[nodiscard]] Verdict verdict(Answer answer, std::string_view sentence) const;
  /// After judge() said `proved`.
  [[nodiscard]] link::Keys keys() const;

 private:
  std::string secret_;
  HubHello hello_{};
  Nonce caller_nonce_{};
};

/// The caller's side, on a connected socket, until @p limit. Throws Error with a
/// sentence that begins with @p where (the address).
[[nodiscard]] link::Link greet_hub(FileDescriptor socket, const Caller& caller,
                                   std::string_view secret, const std::string& where,
                                   link::Clock::time_point limit);

/// @p text in a field of fixed length, cut if need be.
template <std::size_t N>
[[nodiscard]] std::array<char, N> fixed_text(std::string_view text) noexcept {
  std::array<char, N> field{};
  text.substr(0, N - 1).copy(field.data(), N - 1);
  return field;
}
template <std::size_t N>
[[nodiscard]] std::string text_of(const std::array<char, N>& field) {
  const std::string_view all(field.data(), field.size());
  return std::string(all.substr(0, all.find('\0')));
}

}  // namespace viaduct::handshake
