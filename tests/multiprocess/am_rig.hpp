#pragma once
/// @file
/// What a case of am_test works with: a bundle and an endpoint of its own, mapped to all other
/// ranks', ways to meet them with and without polling, and waits that end the program with a
/// sentence instead of hanging.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/check.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"

namespace viaduct::am_test {

using conformance::CaseFailed;
using conformance::kLimitNs;
using conformance::Note;
using conformance::Where;

inline constexpr std::uint32_t kMaxRanks = 64;

/// Whose ranks a case needs: any number, or at least two.
enum class Needs : std::uint8_t { any, two };

class Rig;

struct Case {
  const char* name;
  Needs needs;
  void (*body)(Rig&);
};

/// A message that came back.
struct Back {
  am::Undeliverable status{};
  am::Operation operation{};
  am::Direction direction{};
  std::uint32_t peer = 0;
  std::uint32_t rank = 0;
  std::uint16_t handler = 0;
  std::vector<std::byte> args;
};

class Rig {
 public:
  Rig(am::Context& context, std::uint64_t seed, am::Tag tag = am::kTagAll);
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] Job& job() noexcept { return context_.job(); }
  [[nodiscard]] am::Context& context() noexcept { return context_; }
  [[nodiscard]] am::Bundle& bundle() noexcept { return *bundle_; }
  [[nodiscard]] am::Endpoint& endpoint() noexcept { return *endpoint_; }
  /// The next rank, round the job; and the one before.
  [[nodiscard]] am::Index next() const noexcept { return am::Index{(rank_ + 1) % size_}; }
  [[nodiscard]] am::Index previous() const noexcept {
    return am::Index{(rank_ + size_ - 1) % size_};
  }
  /// Another sequence in every rank; the seed is printed at the start of the run.
  [[nodiscard]] std::uint64_t random_below(std::uint64_t bound) { return random_() % bound; }

  /// All ranks meet; messages are handled meanwhile.
  void barrier(Where where = Where::here());
  /// All ranks meet; nobody polls meanwhile.
  void fence() { job().bootstrap().fence(); }
  /// Hands round a value; nobody polls meanwhile.
  template <class T>
  [[nodiscard]] std::vector<T> exchange(const T& mine) {
    job().bootstrap().put("am_test", std::as_bytes(std::span<const T>(&mine, 1)));
    fence();
    std::vector<T> all(size_);
    for (std::uint32_t r = 0; r < size_; ++r) {
      const auto bytes = job().bootstrap().get(Rank{r}, "am_test");
      if (bytes.size() == sizeof(T)) std::memcpy(&all[r], bytes.data(), sizeof(T));
    }
    fence();
    return all;
  }

  /// Handles messages until @p done; stops the program, naming the line, when that takes too long.
  void until(const std::function<bool()>& done, Where where = Where::here());
  /// A call that must answer ok.
  void ok(Status status, Where where = Where::here());
  /// When it returns nothing that any rank has sent from endpoint() before is still to be handled
  /// here.
  void drain(Where where = Where::here());
  /// Handles what comes for a while.
  void settle() {
    (void)bundle_->wait_until([] { return false; }, 5'000'000);
  }
  /// What @p rank, which is on this host, shows of itself.
  [[nodiscard]] Activity activity_of(std::uint32_t rank) {
    return job().record(Rank{rank}).activity.load();
  }
  /// Without polling, until a message of @p rank waits for room or credits. Returns at once where
  /// @p rank is on another host, which shows nothing.
  void until_waits_for_room(std::uint32_t rank, Where where = Where::here());
  /// Every rank sends to the next while nobody runs requests: exactly credits() must be accepted.
  void expect_all_credits(Where where = Where::here());

  /// Returned messages of endpoint() (handler 0 is set from the start).
  std::vector<Back> back;
  void collect_returned(am::Endpoint& endpoint);

 private:
  am::Context& context_;
  std::uint32_t rank_;
  std::uint32_t size_;
  std::mt19937_64 random_;
  std::uint64_t markers_wanted_ = 0;
  std::unique_ptr<am::Bundle> bundle_;
  std::unique_ptr<am::Endpoint> endpoint_;
};

/// The calling rank's rig, for handlers of sequential bundles.
[[nodiscard]] Rig& here() noexcept;

/// Ends the whole program with a sentence: no rank is left waiting.
[[noreturn]] void give_up(const std::string& what, Where where);

/// Writes bytes that depend on @p seed and place.
void fill(std::span<std::byte> bytes, std::uint64_t seed) noexcept;
/// Place of the first byte that is not as fill() writes it, or the size.
[[nodiscard]] std::size_t first_wrong(std::span<const std::byte> bytes,
                                      std::uint64_t seed) noexcept;

/// CPU time of this thread, in nanoseconds, user and system.
[[nodiscard]] std::int64_t thread_cpu_ns() noexcept;

template <std::size_t N>
struct Bytes {
  std::array<std::uint8_t, N> at;
};

/// A value of type T that depends on @p seed.
template <class T>
[[nodiscard]] T value_of(std::uint64_t seed) noexcept {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(static_cast<std::int32_t>((seed * 2654435761U) % 100'000'007U));
  } else {
    T value;
    fill(std::as_writable_bytes(std::span(&value, 1)), seed);
    return value;
  }
}
template <class T>
[[nodiscard]] bool same(const T& a, const T& b) noexcept {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

std::span<const Case> short_cases();
std::span<const Case> size_cases();
std::span<const Case> bulk_cases();
std::span<const Case> credit_cases();
std::span<const Case> standstill_cases();
std::span<const Case> order_cases();
std::span<const Case> pace_cases();
std::span<const Case> overflow_cases();
std::span<const Case> wait_cases();
std::span<const Case> name_cases();
std::span<const Case> tag_cases();
std::span<const Case> returned_cases();
std::span<const Case> parallel_cases();

}  // namespace viaduct::am_test
