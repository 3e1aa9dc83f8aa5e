#include "benchmarks/common/vi_writer.hpp"

#include <stdexcept>
#include <string>

#include "viaduct/runtime/error.hpp"

namespace viaduct::bench {
namespace {

constexpr std::uint64_t kDiscriminator = 0x6277726974;  // "bwrit"

// The peer's description of its target, for exchange(): a double must hold the values exactly.
double exact(std::uint64_t value) {
  if (value >> 53 != 0) throw std::logic_error("an address beyond 2^53 cannot be told");
  return static_cast<double>(value);
}

}  // namespace

ViWriter::ViWriter(via::Nic& nic, Pair& pair, Rank peer, std::span<std::byte> memory)
    : tag_(nic.create_tag()),
      region_(nic.register_memory(tag_, memory.data(), memory.size(), via::Rights::rdma_write)),
      sends_(nic.create_completion_queue(kDepth)),
      receives_(nic.create_completion_queue(kDepth)),
      descriptors_(kDepth) {
  via::ViAttributes attributes;
  attributes.tag = tag_;
  attributes.send_queue = sends_.get();
  attributes.receive_queue = receives_.get();
  attributes.send_depth = attributes.receive_depth = kDepth;
  vi_ = nic.create_vi(attributes);
  if (const Status status = vi_->connect_peer_start(peer, kDiscriminator); status != Status::ok)
    throw Error(std::errc::not_connected, std::string("connect_peer_start: ") + to_string(status));
  constexpr std::int64_t kLimitNs = 10'000'000'000;
  if (const auto result = vi_->connect_peer_wait(kLimitNs); result != via::ConnectResult::connected)
    throw Error(std::errc::not_connected,
                std::string("the VI to the other rank: ") + to_string(result));
  remote_address_ = static_cast<std::uint64_t>(
      pair.exchange(exact(reinterpret_cast<std::uint64_t>(memory.data()))));
  remote_handle_ = static_cast<via::MemoryHandle>(static_cast<std::uint64_t>(
      pair.exchange(exact(static_cast<std::uint64_t>(region_.handle())))));
}

void ViWriter::reap() {
  via::Completion completion;
  while (sends_->poll(completion) == Status::ok) {
    if (completion.descriptor->failed())
      throw std::runtime_error("an RDMA write failed: status " +
                               std::to_string(completion.descriptor->control.status));
    ++reaped_;
  }
}

void ViWriter::write(std::byte* from, std::size_t total, std::size_t piece) {
  for (std::size_t at = 0; at < total; at += piece) {
    while (posted_ - reaped_ == kDepth) reap();
    via::Descriptor& descriptor = descriptors_[posted_ % kDepth];
    via::make_rdma_write(descriptor, from + at, static_cast<std::uint32_t>(piece), region_.handle(),
                         remote_address_ + at, remote_handle_);
    if (const Status status = vi_->post_send(descriptor); status != Status::ok)
      throw std::runtime_error(std::string("post_send: ") + to_string(status));
    ++posted_;
  }
  while (reaped_ != posted_) reap();
}

}  // namespace viaduct::bench
