#pragma once
/// @file
/// What an agent or a launcher keeps for the ranks of its host: the job page and the bootstrap, and
/// the events by which they change (docs/launch.md).

#include <cstdint>
#include <vector>

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
  [[nodiscard]] bool is_here(Rank rank) const noexcept { return page_->record(rank).host == here_; }
  [[nodiscard]] RankState state_of(Rank rank) const noexcept {
    return page_->record(rank).state.load(std::memory_order_acquire);
  }

  /// @p rank, which is here, is gone without finalizing its Job.
  void lose(Rank rank, RankState state, std::int32_t cause);
  /// @p rank, which is here, has ended after finalizing its Job.
  void finish(Rank rank, std::int32_t code);

  void apply(const link::Frame& event);

 private:
  void submit(link::Frame&& event);
  void apply_loss(const link::Frame& event);
  void catch_up(Rank rank, std::uint32_t ticket) noexcept;

  PageMapping page_;
  std::uint32_t here_ = 0;
  BootstrapServer::Submit submit_;
  BootstrapServer server_;
};

/// The event of a rank that is gone.
[[nodiscard]] link::Frame loss_of(Rank rank, RankState state, std::int32_t cause,
                                  std::uint32_t last_barrier);

}  // namespace viaduct
