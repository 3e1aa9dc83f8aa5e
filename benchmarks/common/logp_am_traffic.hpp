#pragma once
/// @file
/// The traffic of LogpMethod for Active Messages: short requests, each answered by a short reply,
/// with two words of 8 bytes in each direction.

#include <cstdint>
#include <stdexcept>

#include <fmt/format.h>

#include "benchmarks/common/pair.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/token.hpp"

namespace viaduct::bench {

namespace logp_am {

// Written by the handlers of this rank, which may be a thread.
struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t sum = 0;
};
inline constinit thread_local Seen seen;

inline void on_reply(am::Token&, std::uint64_t a, std::uint64_t b) {
  seen.sum += a + b;
  ++seen.replies;
}
inline void on_request(am::Token& token, std::uint64_t a, std::uint64_t b) {
  ++seen.requests;
  token.reply<on_reply>(a, b);
}

}  // namespace logp_am

class AmTraffic {
 public:
  /// Both ranks construct, as the context's endpoint @p number of each.
  AmTraffic(am::Context& context, Pair& pair, Rank peer, std::uint16_t number)
      : bundle_(context), endpoint_(bundle_) {
    if (endpoint_.name().number != number)
      throw std::logic_error(fmt::format("LogP's endpoint has number {}, not {}: create it in turn",
                                         endpoint_.name().number, number));
    require(endpoint_.map(kPeer, {peer, number}, am::kTagAll));
    if (context.nic().transport() != nullptr) pair.make_progress_by([this] { bundle_.poll(); });
  }
  AmTraffic(const AmTraffic&) = delete;
  AmTraffic& operator=(const AmTraffic&) = delete;

  void begin() noexcept { logp_am::seen = {}; }
  void send(std::uint64_t value) {
    require(endpoint_.request<logp_am::on_request>(kPeer, value, std::uint64_t{1}));
  }
  void poll() noexcept { bundle_.poll(); }
  void await(std::uint64_t count) {
    while (logp_am::seen.replies < count) bundle_.poll();
  }
  void end(std::uint64_t count) const {
    const logp_am::Seen& seen = logp_am::seen;
    if (seen.replies != count || seen.sum != count * (count - 1) / 2 + count)
      throw std::runtime_error("the replies of LogP's requests do not add up");
  }
  void serve(std::uint64_t count) {
    while (logp_am::seen.requests < count) bundle_.poll();
  }
  [[nodiscard]] std::uint32_t credits() const noexcept { return endpoint_.credits(); }

 private:
  static constexpr am::Index kPeer{0};
  static void require(Status status) {
    if (status != Status::ok)
      throw std::runtime_error(fmt::format("a request of LogP's bursts: {}", to_string(status)));
  }

  am::Bundle bundle_;
  am::Endpoint endpoint_;
};

}  // namespace viaduct::bench
