#include "benchmarks/common/vi_link.hpp"

#include <atomic>
#include <stdexcept>

#include "benchmarks/common/stopwatch.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr std::size_t kSlotBytes = 64;
constexpr std::uint64_t kDiscriminator = 0x62656e6368;  // "bench"

void require(Status status, const char* what) {
  if (status != Status::ok) throw std::runtime_error(std::string(what) + ": " + to_string(status));
}

}  // namespace

ViLink::ViLink(via::Nic& nic, Pair& pair, Rank peer)
    : pair_(pair), tag_(nic.create_tag()), memory_(nic.allocate((kDepth + 1) * kSlotBytes)) {
  region_ = nic.register_memory(tag_, memory_, (kDepth + 1) * kSlotBytes, via::Rights::none);
  sends_ = nic.create_completion_queue(kDepth);
  receives_ = nic.create_completion_queue(kDepth);
  via::ViAttributes attributes;
  attributes.tag = tag_;
  attributes.send_queue = sends_.get();
  attributes.receive_queue = receives_.get();
  attributes.send_depth = attributes.receive_depth = kDepth;
  vi_ = nic.create_vi(attributes);
  receive_descriptors_.resize(kDepth);
  for (std::uint32_t i = 0; i < kDepth; ++i) {
    via::make_receive(receive_descriptors_[i], memory_ + (i + 1) * kSlotBytes, kSlotBytes,
                      region_.handle());
    require(vi_->post_receive(receive_descriptors_[i]), "post_receive");
  }
  require(vi_->connect_peer_start(peer, kDiscriminator), "connect_peer_start");
  constexpr std::int64_t kLimitNs = 10'000'000'000;
  if (const auto result = vi_->connect_peer_wait(kLimitNs); result != via::ConnectResult::connected)
    throw Error(std::errc::not_connected,
                std::string("the VI to the other rank: ") + to_string(result));
  pair_.meet();
}

via::Descriptor& ViLink::await_receive() {
  via::Completion completion;
  while (receives_->poll(completion) != Status::ok) {
  }
  return *completion.descriptor;
}

void ViLink::reap() {
  via::Completion completion;
  while (sends_->poll(completion) == Status::ok) ++sent_;
}

void ViLink::send(std::uint64_t value) {
  while (sent_ != posted_) reap();  // a device may complete a send after the answer has come
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_))
      .store(value, std::memory_order_relaxed);
  require(vi_->post_send(send_), "post_send");
  ++posted_;
}

void ViLink::settle(via::Descriptor& received, std::uint64_t value) {
  const std::uint64_t got =
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(received.segment[0].local.address))
          .load(std::memory_order_relaxed);
  if (received.failed() || received.control.length != bytes_ || got != value)
    throw std::runtime_error("a receive did not bring what was sent");
  received.control.length = kSlotBytes;  // which now tells how much has come
  require(vi_->post_receive(received), "post_receive");
  reap();
}

// After a send, while the other side works, settle() does the work that need not precede the send:
// it checks the received message, posts its receive again, and takes the send's completion.
void ViLink::exchange(std::uint64_t round_trips, bool first) {
  if (first) send(1);
  for (std::uint64_t i = 1; i <= round_trips; ++i) {
    via::Descriptor& received = await_receive();
    if (!first)
      send(i);
    else if (i != round_trips)
      send(i + 1);
    settle(received, i);
  }
  while (sent_ != posted_) reap();
}

double ViLink::rtt_half_ns(std::uint64_t round_trips, std::uint32_t bytes) {
  bytes_ = bytes;
  via::make_send(send_, memory_, bytes, region_.handle());
  pair_.meet();
  const Stopwatch watch;
  exchange(round_trips, pair_.is_sender());
  return pair_.from_sender(watch.elapsed_ns() / static_cast<double>(round_trips) / 2);
}

}  // namespace viaduct::bench
