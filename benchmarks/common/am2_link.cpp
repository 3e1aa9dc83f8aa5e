#include "benchmarks/common/am2_link.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "benchmarks/common/stopwatch.hpp"

namespace viaduct::bench {
namespace {

enum Handler : handler_t { kRequest = 1, kReply, kOneWay };

struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t sum = 0;
};
constinit Seen seen;

std::uint64_t sum_of(int a, int b, int c, int d) noexcept {
  return static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b) +
         static_cast<std::uint64_t>(c) + static_cast<std::uint64_t>(d);
}

void on_request(void* token, int a, int b, int c, int d) {
  ++seen.requests;
  (void)AM_Reply4(token, kReply, a, b, c, d);
}
void on_reply(void*, int a, int b, int c, int d) {
  seen.sum += sum_of(a, b, c, d);
  ++seen.replies;
}
void on_one_way(void*, int a, int b, int c, int d) {
  seen.sum += sum_of(a, b, c, d);
  ++seen.requests;
}

void require(int result, const char* what) {
  if (result != AM_OK)
    throw std::runtime_error(std::string(what) + " has answered " + std::to_string(result));
}

void require_sum(std::uint64_t messages) {
  if (seen.sum != messages * (messages - 1) / 2 + messages)
    throw std::runtime_error("the messages of AM-2 add up to " + std::to_string(seen.sum));
}

}  // namespace

Am2Link::Am2Link(Pair& pair, Rank peer, int kind, int port) : pair_(pair) {
  en_t name;
  require(AM_AllocateBundle(kind, &bundle_), "AM_AllocateBundle");
  require(AM_AllocateKnownEndpoint(bundle_, &endpoint_, &name, port), "AM_AllocateKnownEndpoint");
  require(AM_SetTag(endpoint_, AM_ALL), "AM_SetTag");
  require(AM_SetHandler(endpoint_, kRequest, reinterpret_cast<AM_Handler>(on_request)),
          "AM_SetHandler");
  require(AM_SetHandler(endpoint_, kReply, reinterpret_cast<AM_Handler>(on_reply)),
          "AM_SetHandler");
  require(AM_SetHandler(endpoint_, kOneWay, reinterpret_cast<AM_Handler>(on_one_way)),
          "AM_SetHandler");
  name.ip_addr = static_cast<unsigned>(index(peer));
  require(AM_Map(endpoint_, 0, name, AM_ALL), "AM_Map");
  (void)rtt_half_ns(1);  // connects
}

Am2Link::~Am2Link() { (void)AM_FreeBundle(bundle_); }

void Am2Link::serve_until(std::uint64_t count) {
  while (seen.requests < count) (void)AM_Poll(bundle_);
}

double Am2Link::rtt_half_ns(std::uint64_t round_trips) {
  seen = {};
  pair_.meet();
  const Stopwatch watch;
  if (pair_.is_sender()) {
    for (std::uint64_t i = 0; i < round_trips; ++i) {
      require(AM_Request4(endpoint_, 0, kRequest, static_cast<int>(i), 1, 0, 0), "AM_Request4");
      while (seen.replies <= i) (void)AM_Poll(bundle_);
    }
    require_sum(round_trips);
  } else {
    serve_until(round_trips);
  }
  return pair_.from_sender(watch.elapsed_ns() / static_cast<double>(round_trips) / 2);
}

double Am2Link::one_way_mps(std::uint64_t messages) {
  seen = {};
  pair_.meet();
  const Stopwatch watch;
  if (pair_.is_sender()) {
    for (std::uint64_t i = 0; i < messages; ++i)
      require(AM_Request4(endpoint_, 0, kOneWay, static_cast<int>(i), 1, 0, 0), "AM_Request4");
  } else {
    serve_until(messages);
    require_sum(messages);
  }
  const double mine = watch.elapsed_ns();  // as AmLink::one_way_mps()
  return static_cast<double>(messages) * 1e3 / std::max(mine, pair_.exchange(mine));
}

}  // namespace viaduct::bench
