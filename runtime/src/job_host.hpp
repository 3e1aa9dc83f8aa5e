#pragma once
/// @file
/// The data of an agent or a launcher about the ranks of its host: the job page and the bootstrap,
/// and the events by which they change (docs/launch.md).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/hang_report.hpp"
#include "runtime/src/bootstrap_server.hpp"
#include "runtime/src/link.hpp"
#include "runtime/src/page_mapping.hpp"

namespace viaduct {

class JobHost {
 public:
  /// All ranks are here.
  explicit JobHost(std::uint32_t size);

  /// @p hosts: for each rank its host's number. Events go to @p submit and come back by apply(), in
  /// the order that holds for all hosts.
  JobHost(const std::vector<std::uint32_t>& hosts, std::uint32_t here,
          BootstrapServer::Submit submit);
  JobHost(const JobHost&) = delete;
  JobHost& operator=(const JobHost&) = delete;

  [[nodiscard]] JobPage& page() const noexcept { return *page_; }
  [[nodiscard]] int page_fd() const noexcept { return page_.fd(); }
  [[nodiscard]] BootstrapServer& server() noexcept { return server_; }
  [[nodiscard]] bool is_here(Rank rank) const noexcept { return known_[index(rank)].host == here_; }
  [[nodiscard]] std::uint32_t hosts() const noexcept { return page_.shape().hosts; }

  /// The process of @p rank, as the owner found it; 0 before. The rank's record keeps a process
  /// that the rank has written there.
  void set_pid(Rank rank, std::int32_t pid) noexcept;
  [[nodiscard]] std::int32_t pid_of(Rank rank) const noexcept { return known_[index(rank)].pid; }

  /// After the end of @p rank: the state that this process has recorded. Before: the state that the
  /// rank has written, or running where that cannot be: where it is no state, or says that the rank
  /// has finalized its Job, though the fence at the Job's end has not released it.
  [[nodiscard]] RankState state_of(Rank rank) const noexcept;

  /// The ranks that have not come to where @p rank waits for all: a fence, of which this process
  /// knows, or a place that the page tells.
  [[nodiscard]] Gathering gathering_of(Rank rank) const;

  /// A sentence about values in the page that cannot be any more, because a process of the job has
  /// written over them; empty while all is well. Names the rank whose record it is where only one
  /// is.
  /// Cost: reads a few words for each rank.
  [[nodiscard]] std::string damage() const;

  /// @p rank, which is here, is gone without finalizing its Job.
  void lose(Rank rank, RankState state, std::int32_t cause);
  /// @p rank, which is here, has ended after finalizing its Job.
  void finish(Rank rank, std::int32_t code);

  void apply(const link::Frame& event);

 private:
  void submit(link::Frame&& event);
  void apply_loss(const link::Frame& event);
  void catch_up(Rank rank, std::uint32_t ticket) noexcept;
  [[nodiscard]] bool is_damaged(Rank rank) const noexcept;

  /// Knowledge that does not depend on the page, which every rank can overwrite.
  struct Known {
    std::uint32_t host = 0;
    std::int32_t pid = 0;
    std::uint32_t barrier = 0;  ///< the last one of a rank on another host
    std::optional<RankState> end;
  };

  PageMapping page_;
  std::vector<Known> known_;
  std::uint32_t here_ = 0;
  BootstrapServer::Submit submit_;
  BootstrapServer server_;
};

/// The event of a rank that is gone.
[[nodiscard]] link::Frame loss_of(Rank rank, RankState state, std::int32_t cause,
                                  std::uint32_t last_barrier);

}  // namespace viaduct
