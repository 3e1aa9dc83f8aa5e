#include <fcntl.h>
#include <fmt/format.h>

#include "runtime/errors/codes.hpp"
#include "runtime/src/job_bootstrap.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

using Lock = std::unique_lock<std::mutex>;
using Outcome = ThreadWorld::Outcome;
constexpr std::chrono::milliseconds kForEver{-1};

/// Hands out the exchange's verdicts. Call with the world's mutex held.
void deliver(ThreadWorld& world) {
  for (const Exchange::Release& release : world.exchange.take_released()) {
    world.outcomes[index(release.rank)] = {release.failed ? Outcome::failed : Outcome::released,
                                           release.culprit};
  }
  world.released.notify_all();
}

class ThreadBootstrap final : public JobBootstrap {
 public:
  ThreadBootstrap(std::shared_ptr<ThreadWorld> world, const ForkMark& mark, Rank rank)
      : world_(std::move(world)), mark_(mark), rank_(rank) {}

  void put(std::string_view key, std::span<const std::byte> value) override {
    mark_.refuse_in_child("Bootstrap::put");
    const Lock lock(world_->mutex);
    world_->exchange.put(rank_, key, value);
  }

  void fence() override {
    mark_.refuse_in_child("Bootstrap::fence");
    const ThreadWorld::FenceOutcome outcome = wait(FenceKind::everyone);
    if (outcome.outcome == Outcome::failed) {
      throw Error(errors::lost_at_fence, std::errc::owner_dead,
                  fmt::format("rank {} was lost or ended its job before it reached the fence that "
                              "rank {} waits at",
                              index(outcome.culprit), index(rank_)));
    }
  }

  bool fence_survivors() override { return wait(FenceKind::survivors).outcome != Outcome::waiting; }

  bool fence_failed(std::chrono::milliseconds limit) override {
    return wait(FenceKind::failed, limit).outcome != Outcome::waiting;
  }

  void tell_barrier(std::uint32_t /*ticket*/) noexcept override {}
  void tell_ending() noexcept override {}
  void tell_failing() noexcept override {}
  void tell_port(bool /*down*/) noexcept override {}

  std::vector<std::byte> get(Rank rank, std::string_view key) override {
    mark_.refuse_in_child("Bootstrap::get");
    const Lock lock(world_->mutex);
    if (const auto* value = find(rank, key); value != nullptr) return *value;
    reject_unpublished(rank, key);
  }

  std::vector<std::byte> get_or_empty(Rank rank, std::string_view key) override {
    const Lock lock(world_->mutex);
    const auto* value = find(rank, key);
    return value != nullptr ? *value : std::vector<std::byte>{};
  }

  void share_fd(int fd, std::string_view key) override {
    const Lock lock(world_->mutex);
    // The descriptor's owner outlives its use: the owner leaves after the last fence.
    world_->shared_fds[index(rank_)].insert_or_assign(std::string(key), fd);
  }

  FileDescriptor fetch_fd(Rank rank, std::string_view key) override {
    mark_.refuse_in_child("Bootstrap::fetch_fd");
    const Lock lock(world_->mutex);
    const int shared = find_fd(rank, key);
    if (shared < 0) {
      throw Error(errors::nothing_published, std::errc::no_message,
                  fmt::format("rank {} has shared no descriptor{}", index(rank), under_key(key)));
    }
    FileDescriptor copy(::fcntl(shared, F_DUPFD_CLOEXEC, 3));
    if (!copy.is_open())
      throw_errno(errors::system_refused,
                  fmt::format("cannot duplicate the descriptor of rank {}", index(rank)));
    return copy;
  }

 private:
  const std::vector<std::byte>* find(Rank rank, std::string_view key) const {
    return index(rank) < world_->exchange.size() ? world_->exchange.get(rank, key) : nullptr;
  }

  [[nodiscard]] int find_fd(Rank rank, std::string_view key) const {
    if (index(rank) >= world_->shared_fds.size()) return -1;
    const auto& shared = world_->shared_fds[index(rank)];
    const auto found = shared.find(key);
    return found != shared.end() ? found->second : -1;
  }

  ThreadWorld::FenceOutcome wait(FenceKind kind, std::chrono::milliseconds limit = kForEver) {
    Lock lock(world_->mutex);
    ThreadWorld::FenceOutcome& mine = world_->outcomes[index(rank_)];
    mine = {};
    world_->exchange.arrive(rank_, kind);
    deliver(*world_);
    const auto answered = [&] { return mine.outcome != Outcome::waiting; };
    AtomicWord<std::uint32_t>& at_fence = world_->page->record(rank_).at_fence;
    at_fence.store(1, std::memory_order_relaxed);
    if (limit == kForEver)
      world_->released.wait(lock, answered);
    else
      world_->released.wait_for(lock, limit, answered);
    at_fence.store(0, std::memory_order_relaxed);
    return mine;
  }

  std::shared_ptr<ThreadWorld> world_;
  const ForkMark& mark_;
  Rank rank_;
};

}  // namespace

std::unique_ptr<JobBootstrap> make_thread_bootstrap(std::shared_ptr<ThreadWorld> world,
                                                    const ForkMark& mark, Rank rank) {
  return std::make_unique<ThreadBootstrap>(std::move(world), mark, rank);
}

void lose_thread_rank(ThreadWorld& world, Rank rank, RankState state, int cause) {
  const Lock lock(world.mutex);
  if (!world.failed) world.first_failure = cause;
  world.failed = true;
  record_loss(*world.page, world.page.shape(), rank, state,
              cause);  // from here on others may fail because of it
  world.exchange.lose(rank);
  deliver(world);
}

}  // namespace viaduct
