#pragma once
/// @file
/// Two ranks that talk, for tests that disturb them between the provider and its device.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::faults {

/// Longest wait for anything that must happen.
constexpr std::uint64_t kBoundNs = 60'000'000'000;

inline bool g_wrong = false;
inline void expect(bool passed, const char* what) {
  if (passed) return;
  std::printf("not so: %s\n", what);
  std::fflush(stdout);
  g_wrong = true;
}

inline std::uint64_t g_replies = 0;
inline std::uint64_t g_back = 0;

inline void on_reply(am::Token&) { ++g_replies; }
inline std::uint64_t g_handled = 0;
inline void on_request(am::Token& token) {
  ++g_handled;
  token.reply<on_reply>();
}

class Talk {
 public:
  explicit Talk(Job& job) : job_(job), context_(job), bundle_(context_) {}

  am::Bundle& bundle() { return bundle_; }
  am::Endpoint& endpoint() { return *endpoint_; }
  [[nodiscard]] bool first() const { return index(job_.rank()) == 0; }
  [[nodiscard]] am::Index other() const { return am::Index{1 - index(job_.rank())}; }
  void fence() { job_.bootstrap().fence(); }

  /// Endpoints that have not met.
  void renew() {
    endpoint_.reset();
    endpoint_ = std::make_unique<am::Endpoint>(bundle_);
    const am::EndpointName mine = endpoint_->name();
    job_.bootstrap().put("endpoint", std::as_bytes(std::span(&mine, 1)));
    fence();
    endpoint_->set_translations(2);
    am::EndpointName theirs;
    const auto bytes = job_.bootstrap().get(Rank{value(other())}, "endpoint");
    std::memcpy(static_cast<void*>(&theirs), bytes.data(), sizeof theirs);
    expect(endpoint_->map(other(), theirs, am::kTagAll) == Status::ok, "it is mapped");
    endpoint_->set_undeliverable_handler([](const am::Returned& returned) {
      ++g_back;
      expect(returned.status == am::Undeliverable::unreachable, "returned as unreachable");
    });
    g_replies = g_back = g_handled = 0;
  }
  /// The other finds no endpoint here, until the next renew().
  void end() { endpoint_.reset(); }
  /// The endpoint stays, with what it knows of the other; the next renew() makes another.
  am::Endpoint& keep() { return *kept_.emplace_back(std::move(endpoint_)); }

  void expect_answers(const char* what) {
    renew();
    expect_answers_now(what);
  }
  void expect_answers_now(const char* what) {
    constexpr std::uint64_t kRequests = 20;
    for (std::uint64_t i = 0; i < kRequests; ++i)
      expect(endpoint_->request<on_request>(other()) == Status::ok, "a request is taken");
    expect(bundle_.wait_until([] { return g_replies == kRequests; }, kBoundNs) == Status::ok, what);
    expect(bundle_.barrier() == Status::ok && g_back == 0, "both have their answers");
    expect(g_handled == kRequests, "each request is handled once");
    fence();  // more come only after the look
  }

  /// Until the other is known to be lost, which is looked at without a message.
  void await_loss(bool polls) {
    const auto lost = [this] { return endpoint_->active_peers() == 0; };
    if (!polls) (void)bundle_.wait_until(lost, kBoundNs);
    for (const std::uint64_t start = monotonic_ns(); !lost() && monotonic_ns() - start < kBoundNs;)
      bundle_.poll();
  }

  void expect_loss(const char* what) { expect_loss(*endpoint_, what); }
  void expect_loss(am::Endpoint& endpoint, const char* what) {
    const std::uint64_t start = monotonic_ns();
    Status status = Status::ok;
    while (monotonic_ns() - start < kBoundNs && status != Status::peer_lost && g_back == 0) {
      status = endpoint.try_request<on_request>(other());
      (void)bundle_.wait(1'000'000);
    }
    expect(status == Status::peer_lost || g_back != 0, what);
  }

 private:
  Job& job_;
  am::Context context_;
  am::Bundle bundle_;
  std::unique_ptr<am::Endpoint> endpoint_;
  std::vector<std::unique_ptr<am::Endpoint>> kept_;
};

}  // namespace viaduct::faults
