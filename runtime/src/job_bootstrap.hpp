#pragma once
/// @file
/// The interface of a Bootstrap that a Job needs beyond the public one, and its two
/// implementations.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/src/fork_mark.hpp"
#include "runtime/src/thread_world.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/job_page.hpp"

namespace viaduct {

class JobBootstrap : public Bootstrap {
 public:
  /// A fence that does not wait for ranks that are lost: finalize. False: the connection to the
  /// launcher has ended, so that this rank is lost itself.
  [[nodiscard]] virtual bool fence_survivors() = 0;

  /// The same for a failed rank. The rank waits at most @p limit for the others, which may wait
  /// for it. False: not all came.
  [[nodiscard]] virtual bool fence_failed(std::chrono::milliseconds limit) = 0;

  /// To the host's agent, for the ranks of other hosts; a launcher that is gone does not matter any
  /// more.
  virtual void tell_barrier(std::uint32_t ticket) noexcept = 0;
  virtual void tell_ending() noexcept = 0;
  /// That this rank has failed: viaduct-run waits some seconds for its exit code.
  virtual void tell_failing() noexcept = 0;
  /// From any thread.
  virtual void tell_port(bool down) noexcept = 0;

  /// get() that answers empty when there is nothing.
  [[nodiscard]] virtual std::vector<std::byte> get_or_empty(Rank rank, std::string_view key) = 0;
};

/// The part of a sentence that names the key of a shared value: " under "key"", nothing for the
/// empty key.
[[nodiscard]] inline std::string under_key(std::string_view key) {
  return key.empty() ? std::string{} : " under \"" + std::string(key) + "\"";
}

/// Throws the Error of a get() that finds nothing. The ranks of a program that is right publish
/// alike, so that the likely cause is another program in @p rank.
[[noreturn]] void reject_unpublished(Rank rank, std::string_view key);

/// Over the socket pair to viaduct-run. Both refuse to work in a child of the process that made
/// them; @p mark outlives them.
[[nodiscard]] std::unique_ptr<JobBootstrap> make_socket_bootstrap(FileDescriptor socket,
                                                                  const ForkMark& mark, Rank rank,
                                                                  std::uint32_t size);

/// Over memory shared by ranks that are threads.
[[nodiscard]] std::unique_ptr<JobBootstrap> make_thread_bootstrap(
    std::shared_ptr<ThreadWorld> world, const ForkMark& mark, Rank rank);

}  // namespace viaduct
