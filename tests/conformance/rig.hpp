#pragma once
/// @file
/// What a case works with: its rank, the NIC under test, a way to meet the other ranks that does
/// not go through the provider, buffers with guard bytes and links (a VI with its completion
/// queue).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/conformance/check.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::conformance {

/// How long a case looks for something that must not happen.
inline constexpr std::int64_t kQuietNs = 20'000'000;

/// Which ranks run a case: every rank for itself, ranks 0 and 1, or all ranks together (at least
/// 2).
enum class Party : std::uint8_t { alone, pair, all };

class Rig;

struct Case {
  const char* name;  ///< "send.sizes"
  const char* rule;  ///< the sentence that it checks
  Party party;
  void (*body)(Rig&);
};

class Rig {
 public:
  Rig(Job& job, via::Nic& nic, std::uint64_t seed);
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  [[nodiscard]] std::uint32_t rank() const noexcept { return index(job_.rank()); }
  [[nodiscard]] std::uint32_t size() const noexcept { return job_.size(); }
  /// Rank 0: the end that starts. A case of a pair has the ends first() and not first().
  [[nodiscard]] bool first() const noexcept { return rank() == 0; }
  [[nodiscard]] Rank me() const noexcept { return job_.rank(); }
  [[nodiscard]] Rank other() const noexcept { return Rank{1 - rank()}; }
  [[nodiscard]] Job& job() noexcept { return job_; }
  [[nodiscard]] via::Nic& nic() noexcept { return nic_; }
  [[nodiscard]] const via::NicAttributes& limits() const noexcept { return nic_.attributes(); }
  /// The protection tag of this case.
  [[nodiscard]] via::ProtectionTag tag() const noexcept { return tag_; }
  /// The same sequence in every rank.
  [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
  [[nodiscard]] std::uint64_t random_below(std::uint64_t bound) { return random_() % bound; }

  /// A new discriminator, the same in every rank when all ask in the same order.
  [[nodiscard]] std::uint64_t new_discriminator() noexcept { return ++discriminator_; }

  /// Meets the case's other ranks; the NIC makes progress meanwhile. Ends the case when one of them
  /// has given up.
  void sync(const char* label, Where where = Where::here());
  /// As sync(), and hands round a value: the result is indexed by rank.
  template <class T>
  [[nodiscard]] std::vector<T> exchange(const char* label, const T& mine,
                                        Where where = Where::here()) {
    barrier(label);
    return values<T>(meet_in_case(label, std::as_bytes(std::span<const T>(&mine, 1)), where));
  }
  /// As exchange(), but nobody touches the NIC meanwhile.
  template <class T>
  [[nodiscard]] std::vector<T> exchange_without_progress(const char* label, const T& mine,
                                                         Where where = Where::here()) {
    const std::uint32_t ticket = job_.barrier_arrive();
    auto bytes = meet_in_case(label, std::as_bytes(std::span<const T>(&mine, 1)), where);
    leave_barrier(ticket);
    return values<T>(bytes);
  }

  /// Polls the NIC until @p done() or the limit; answers done().
  template <class Done>
  bool progress_until(Done done, std::int64_t limit_ns = kLimitNs);
  void progress_for(std::int64_t ns) {
    progress_until([] { return false; }, ns);
  }

  /// Waits for an asynchronous error about @p vi and takes it off the list; a check that fails
  /// names what came.
  void expect_error(via::ErrorCause cause, const via::Vi& vi, Where where = Where::here());
  [[nodiscard]] const std::vector<via::AsyncError>& errors() const noexcept { return errors_; }
  void forget_errors() noexcept { errors_.clear(); }
  /// Waits until @p vi is in @p state.
  void expect_state(const via::Vi& vi, via::ViState state, Where where = Where::here());

  /// Leaves the case: the provider does not offer what it is about. Every rank of the case must
  /// come to this.
  [[noreturn]] void skip(std::string reason) { throw CaseSkipped{std::move(reason)}; }

  // For the runner.
  struct Round {
    bool finished = false;  // every rank has
    std::uint64_t failures = 0;
    std::uint32_t skipped = 0;
  };
  void begin(const Case& subject, std::uint32_t number);
  /// One step of leaving the case; to be repeated until finished.
  [[nodiscard]] Round finish(std::uint64_t failures, bool skipped);
  void clean_up();

 private:
  struct Signal {
    std::uint64_t label = 0;
    std::uint64_t failures = 0;
    std::uint32_t finished = 0;
    std::uint32_t skipped = 0;
  };
  using Bytes = std::vector<std::byte>;
  [[nodiscard]] bool takes_part(std::uint32_t rank) const noexcept;
  void barrier(const char* label);
  void leave_barrier(std::uint32_t ticket);
  std::vector<Bytes> meet(Signal signal, std::span<const std::byte> payload);
  template <class T>
  static std::vector<T> values(const std::vector<Bytes>& bytes);
  std::vector<Bytes> meet_in_case(const char* label, std::span<const std::byte> payload,
                                  Where where);

  Job& job_;
  via::Nic& nic_;
  std::uint64_t seed_;
  const Case* case_ = nullptr;
  via::ProtectionTag tag_ = via::ProtectionTag::none;
  std::mt19937_64 random_;
  std::uint64_t discriminator_ = 0;
  std::uint64_t rounds_ = 0;
  std::vector<via::AsyncError> errors_;
};

/// Lets other ranks have the core while polling: yields, and after a while pauses.
class Patience {
 public:
  void pause() noexcept;

 private:
  std::uint32_t looks_ = 0;
};

[[nodiscard]] std::int64_t now_ns() noexcept;

template <class Done>
bool Rig::progress_until(Done done, std::int64_t limit_ns) {
  const std::int64_t end = now_ns() + limit_ns;
  Patience patience;
  while (true) {
    nic_.progress();
    if (done()) return true;
    if (now_ns() >= end) return false;
    patience.pause();
  }
}

template <class T>
std::vector<T> Rig::values(const std::vector<Bytes>& bytes) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>);
  std::vector<T> result(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i].size() == sizeof(T)) std::memcpy(&result[i], bytes[i].data(), sizeof(T));
  }
  return result;
}

}  // namespace viaduct::conformance
