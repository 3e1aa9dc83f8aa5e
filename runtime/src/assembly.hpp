#pragma once
/// @file
/// The hub's bookkeeping while a job's ranks come together: the ranks that have come, their hosts,
/// and the mistakes found. Pure data.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/src/handshake.hpp"

namespace viaduct {

class Assembly {
 public:
  explicit Assembly(std::uint32_t size) : ranks_(size) {}

  /// Lets a rank in, or says why not (not empty): when the job has failed, how.
  [[nodiscard]] std::string admit(const handshake::Caller& caller);
  /// A rank that had come has ended.
  void lose(std::uint32_t rank);
  void count_wrong_secret() { ++wrong_secrets_; }

  [[nodiscard]] bool complete() const noexcept { return come_ == ranks_.size(); }
  /// Why there can be no job any more, if so.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// Another reason that there can be no job.
  void give_up(const std::string& sentence) {
    if (failure_.empty()) failure_ = sentence;
  }
  [[nodiscard]] bool has_come(std::uint32_t rank) const { return ranks_[rank].come; }
  /// The ranks that have not come after @p seconds.
  [[nodiscard]] std::string missing(double seconds) const;

  /// For each rank the number of its host, counted in the order of their lowest ranks. Once
  /// complete.
  [[nodiscard]] std::vector<std::uint32_t> hosts() const;
  /// "host a (ranks 2 and 3)".
  [[nodiscard]] std::string describe_host(std::uint32_t host) const;

 private:
  struct Rank {
    bool come = false;
    std::int32_t pid = 0;
    std::string host_key;
    std::string host_name;
  };
  [[nodiscard]] std::string name_of(std::uint32_t rank) const;
  std::vector<Rank> ranks_;
  std::size_t come_ = 0;
  std::string failure_;
  std::string duplicates_;
  std::size_t wrong_secrets_ = 0;
};

/// "3", "1, 2 and 5", "1, 2, 3 and 40 more".
[[nodiscard]] std::string list_of(const std::vector<std::uint32_t>& numbers);

}  // namespace viaduct
