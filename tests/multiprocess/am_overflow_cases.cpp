/// Medium replies that do not fit the ring: one at a time is in a block beside it, which is free
/// again when its reader has run the handler, has sent the reply back, or has ended. How often the
/// block is used is counted, so that one that is never free again is noticed, and not only waited
/// for.

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include <sched.h>

#include "tests/multiprocess/am_rig.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/stats.hpp"

namespace viaduct::am_test {
namespace {

constexpr am::Index kServer{1};
constexpr std::uint32_t kRingHolds =
    2;  // replies of the largest size; the next one needs the block

thread_local std::uint64_t t_handled = 0;
thread_local std::uint64_t t_replies = 0;
thread_local std::uint64_t t_known = 0;  // of what the server has handled
thread_local std::uint64_t t_told = 0;   // the server's last answer to that question

void reset(Rig& rig) {
  t_handled = t_replies = t_told = 0;
  rig.barrier();  // no rank sends before all have come here
}

void on_met(am::Token&) { ++t_replies; }
void on_meet(am::Token& token) {
  ++t_handled;
  token.reply<on_met>();
}
void on_large_answer(am::Token&, std::span<const std::byte>) { ++t_replies; }
void on_ask_large(am::Token& token) {
  const std::vector<std::byte> data(token.endpoint().max_medium());
  (void)token.reply_medium<on_large_answer>(std::span(data));
  ++t_handled;
}

/// An endpoint of rank 0, mapped to the server.
std::unique_ptr<am::Endpoint> mapped(Rig& rig, am::Bundle& bundle) {
  auto endpoint = std::make_unique<am::Endpoint>(bundle);
  endpoint->set_undeliverable_handler([](const am::Returned&) {});
  rig.ok(endpoint->map(kServer, rig.endpoint().translation_name(kServer), am::kTagAll));
  return endpoint;
}
void meet(Rig& rig, am::Bundle& bundle, am::Endpoint& endpoint) {
  const std::uint64_t before = t_replies;
  rig.ok(endpoint.request<on_meet>(kServer));
  rig.ok(bundle.wait_until([&] { return t_replies == before + 1; }, kLimitNs));
}
void ask_large(Rig& rig, am::Endpoint& endpoint, std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) rig.ok(endpoint.try_request<on_ask_large>(kServer));
}

/// Replies of the calling rank that went through a block.
std::uint64_t through_block(Rig& rig) {
  for (const auto& row : rig.job().stats().rows())
    if (row.layer == "am" && row.name == "overflow_replies") return row.value;
  give_up("there is no counter of replies in overflow blocks", Where::here());
}

void on_handled(am::Token&, std::uint64_t handled) { t_known = handled; }
void on_ask_handled(am::Token& token) {
  token.reply<on_handled>(t_handled);
  t_told = t_handled;
}

/// Another bundle of rank 0. While it polls, connections of the rank's other bundles take the
/// places in the send queue that come free, which accepted requests may wait for, and take no
/// message.
class Side {
 public:
  explicit Side(Rig& rig) : rig_(rig), bundle_(rig.context()), endpoint_(mapped(rig, bundle_)) {
    wait_for_handled(0);
  }
  /// By polls: a wait would serve the rank's other bundles as well.
  void until(const std::function<bool()>& done) {
    const std::uint64_t start = monotonic_ns();
    while (!done()) {
      (void)bundle_.poll();
      ::sched_yield();
      if (monotonic_ns() - start > static_cast<std::uint64_t>(kLimitNs))
        return rig_.ok(Status::timeout);
    }
  }
  /// Until the server has handled as many requests, as it says itself.
  void wait_for_handled(std::uint64_t wanted) {
    do {
      t_known = kUnknown;
      rig_.ok(endpoint_->request<on_ask_handled>(kServer));
      until([] { return t_known != kUnknown; });
    } while (t_known < wanted);
  }

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  Rig& rig_;
  am::Bundle bundle_;
  std::unique_ptr<am::Endpoint> endpoint_;
};
std::unique_ptr<Side> side_of_first(Rig& rig) {
  auto side = rig.rank() == 0 ? std::make_unique<Side>(rig) : nullptr;
  rig.barrier();
  return side;
}
/// The server's part: until it has handled @p handled requests, and has said so when it is to.
void serve(Rig& rig, std::uint64_t handled, bool tells) {
  rig.until([&] {
    if (t_handled == handled) CHECK_EQ(rig.activity_of(1), Activity::waiting_message);
    return t_handled == handled && (!tells || t_told == handled);
  });
}

/// Each reply that finds the ring full goes through the block, as often as the reader has taken
/// the one before.
void overflow_taken(Rig& rig) {
  reset(rig);
  if (rig.endpoint().credits() <= kRingHolds) return;
  const auto side = side_of_first(rig);
  std::unique_ptr<am::Endpoint> asking;
  if (rig.rank() == 0) {
    asking = mapped(rig, rig.bundle());
    meet(rig, rig.bundle(), *asking);
  }
  const std::uint64_t before = through_block(rig);
  std::uint64_t handled = 1;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    rig.barrier();
    rig.fence();
    handled += kRingHolds + 1;
    if (rig.rank() == 0) ask_large(rig, *asking, kRingHolds + 1);
    rig.fence();  // a request may poll, and must find no reply: the server begins behind it
    if (rig.rank() == 0) {  // takes no reply until all have been sent
      side->wait_for_handled(handled);
      CHECK_EQ(t_replies, handled - kRingHolds - 1);
      rig.until([&] { return t_replies == handled; });
    } else if (rig.rank() == 1) {
      serve(rig, handled, true);
      CHECK_EQ(through_block(rig), before + round);
    }
  }
  rig.barrier();
}

/// Rank 0's endpoint ends without having taken three replies of the largest size: two fill the
/// ring, the third is in rank 1's overflow block, and a fourth waits for that. The block is free
/// for the next endpoint, also while a handler of rank 1 waits for it; and what rank 1 waits for in
/// the end is known again when that handler has returned.
void overflow_of_ended_endpoint(Rig& rig) {
  reset(rig);
  const std::uint32_t asked = std::min(rig.endpoint().credits(), kRingHolds + 2);
  const bool waits = asked == kRingHolds + 2;  // a reply, until the endpoint has ended
  const auto side = side_of_first(rig);
  const std::uint64_t before = through_block(rig);
  std::uint64_t handled = 0;
  for (std::uint64_t round = 1; round <= 2; ++round) {
    std::unique_ptr<am::Endpoint> asking;
    if (rig.rank() == 0) {
      asking = mapped(rig, rig.bundle());
      meet(rig, rig.bundle(), *asking);
      asking->set_wait_run(am::Bundle::Run::replies);
    }
    rig.barrier();
    rig.fence();
    if (rig.rank() == 0) ask_large(rig, *asking, asked);
    rig.fence();  // rank 0 does not poll its bundle from here on
    handled += 1 + asked;
    if (rig.rank() == 0 && waits)
      side->until([&] { return rig.activity_of(1) == Activity::waiting_credit; });
    if (rig.rank() == 0 && !waits) side->wait_for_handled(handled);
    if (rig.rank() == 1) serve(rig, handled, !waits);
    asking.reset();
    rig.barrier();
    if (rig.rank() == 1 && asked > kRingHolds) CHECK_EQ(through_block(rig), before + round);
  }
}

/// The same where the one who finds the block taken is a handler of another endpoint's request,
/// which began before the first endpoint ended.
void overflow_freed_inside_handler(Rig& rig) {
  reset(rig);
  if (rig.endpoint().credits() <= kRingHolds) return;
  constexpr std::uint32_t kAsked = kRingHolds + 1;
  struct Asking {
    am::Bundle bundle;
    std::unique_ptr<am::Endpoint> endpoint;
    explicit Asking(Rig& rig) : bundle(rig.context()), endpoint(mapped(rig, bundle)) {
      meet(rig, bundle, *endpoint);
    }
  };
  const std::uint64_t before = through_block(rig);
  std::array<std::unique_ptr<Asking>, 2> asking;
  if (rig.rank() == 0)
    for (auto& one : asking) one = std::make_unique<Asking>(rig);
  rig.barrier();
  for (auto& one : asking) {  // each in a bundle of its own, which is not polled
    rig.fence();
    if (rig.rank() == 0) ask_large(rig, *one->endpoint, kAsked);
    rig.fence();
    if (rig.rank() == 1 && &one == asking.data()) rig.until([] { return t_handled == 2 + kAsked; });
  }
  // Rank 1 has answered the first endpoint's requests, and the block is taken. It waits for it in
  // the second one's third request when the first one ends.
  if (rig.rank() == 0) {
    // Connections between ranks that share no memory have a block each.
    rig.until_waits_for_room(1);
    asking[0].reset();
  }
  if (rig.rank() == 1) {
    rig.until([] { return t_handled == 2 + 2 * kAsked; });
    CHECK_EQ(through_block(rig), before + 2);
  }
  rig.fence();
  if (rig.rank() == 0)
    rig.ok(asking[1]->bundle.wait_until([] { return t_replies == 2 + kAsked; }, kLimitNs));
  asking[1].reset();
  rig.barrier();
}

constexpr std::array kCases{
    Case{"credit.overflow_taken", Needs::two, overflow_taken},
    Case{"credit.overflow_of_ended_endpoint", Needs::two, overflow_of_ended_endpoint},
    Case{"credit.overflow_freed_inside_handler", Needs::two, overflow_freed_inside_handler},
};

}  // namespace

std::span<const Case> overflow_cases() { return kCases; }

}  // namespace viaduct::am_test
