#pragma once
/// @file
/// The bookkeeping behind every Bootstrap: the values put, the ranks at the fence, the lost ranks.
/// Pure data, no locks, no input or output: viaduct-run drives one from its sockets, ranks that are
/// threads share one under a mutex.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "viaduct/runtime/types.hpp"

namespace viaduct {

enum class FenceKind : std::uint8_t {
  everyone,   ///< fails as soon as a rank is lost, or ends
  survivors,  ///< the end: does not wait for ranks that are lost
  failed,     ///< the same for a rank that will soon give up waiting: fails no fence meanwhile
};

class Exchange {
 public:
  explicit Exchange(std::uint32_t size) : ranks_(size) {}

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(ranks_.size());
  }

  /// Visible to get() after the next fence that succeeds.
  void put(Rank rank, std::string_view key, std::span<const std::byte> value);

  /// The value that @p rank put before the last fence, or null.
  [[nodiscard]] const std::vector<std::byte>* get(Rank rank, std::string_view key) const;

  /// Bytes that @p rank has put, keys included.
  [[nodiscard]] std::size_t bytes_of(Rank rank) const noexcept { return ranks_[index(rank)].bytes; }

  /// @p rank waits at a fence.  False when the rank waits there already.
  bool arrive(Rank rank, FenceKind kind);

  /// @p rank will not arrive any more.
  void lose(Rank rank);
  [[nodiscard]] bool is_lost(Rank rank) const noexcept { return ranks_[index(rank)].lost; }

  [[nodiscard]] bool is_waiting(Rank rank) const noexcept { return ranks_[index(rank)].waiting; }

  /// Whether @p rank has been released from a fence that ends its job.
  [[nodiscard]] bool has_ended(Rank rank) const noexcept { return ranks_[index(rank)].ended; }

  struct Release {
    Rank rank;     ///< that may go on
    bool failed;   ///< the fence failed, because of
    Rank culprit;  ///< this one
  };
  /// The ranks that may leave the fence now; each is named once. Call after arrive() and lose().
  [[nodiscard]] std::vector<Release> take_released();

 private:
  using Values = std::map<std::string, std::vector<std::byte>, std::less<>>;
  struct PerRank {
    Values pending;
    Values visible;
    std::size_t bytes = 0;
    bool waiting = false;
    bool lost = false;
    bool ended = false;
    FenceKind kind = FenceKind::everyone;
  };
  [[nodiscard]] std::optional<Rank> culprit() const noexcept;
  [[nodiscard]] bool complete() const noexcept;
  void publish();

  std::vector<PerRank> ranks_;
  bool any_lost_ = false;
  Rank first_lost_{};
};

}  // namespace viaduct
