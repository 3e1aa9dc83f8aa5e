#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Completion;
using via::CompletionQueue;
using via::Descriptor;

struct SharedQueue {
  std::unique_ptr<CompletionQueue> queue;
  std::vector<std::unique_ptr<Link>> links;

  SharedQueue(Rig& rig, std::uint32_t vis, std::uint32_t depth)
      : queue(rig.nic().create_completion_queue(std::size_t{2} * vis * depth)) {
    via::ViAttributes attributes = vi_attributes(depth);
    attributes.send_queue = attributes.receive_queue = queue.get();
    for (std::uint32_t i = 0; i < vis; ++i) {
      links.push_back(std::make_unique<Link>(rig, attributes));
      connect(rig, *links.back());
    }
  }
  [[nodiscard]] std::size_t index_of(const via::Vi* vi) const {
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (&links[i]->vi() == vi) return i;
    }
    return links.size();
  }
};

void empty(Rig& rig) {
  const auto queue = rig.nic().create_completion_queue(8);
  Completion completion;
  CHECK_EQ(queue->poll(completion), Status::retry);
  CHECK(queue->capacity() >= 8);
}

void limits(Rig& rig) {
  CHECK_THROWS(rig.nic().create_completion_queue(0));
  CHECK_THROWS(
      rig.nic().create_completion_queue(std::size_t{rig.limits().max_completion_queue} + 1));
  CHECK(rig.nic().create_completion_queue(rig.limits().max_completion_queue) != nullptr);
  CHECK(rig.nic().create_completion_queue(1) != nullptr);
}

void too_small(Rig& rig) {
  const auto queue = rig.nic().create_completion_queue(8);
  via::ViAttributes attributes = vi_attributes(9);
  attributes.tag = rig.tag();
  attributes.send_queue = queue.get();
  CHECK_THROWS(rig.nic().create_vi(attributes));
  attributes.send_queue = nullptr;
  attributes.receive_queue = queue.get();
  CHECK_THROWS(rig.nic().create_vi(attributes));
  attributes.receive_depth = 8;
  CHECK(rig.nic().create_vi(attributes) != nullptr);
}

// Several VIs of both work queues on one completion queue: FIFO per work queue, and each completion
// says whose it is.
void shared(Rig& rig) {
  constexpr std::uint32_t kVis = 5;
  constexpr std::uint32_t kDepth = 12;
  SharedQueue shared(rig, kVis, kDepth);
  Buffer out(rig, 4096);
  Buffer in(rig, 4096 * kVis * kDepth);
  std::vector<Descriptor> sends(kVis * kDepth);
  std::vector<Descriptor> receives(kVis * kDepth);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < kVis * kDepth; ++i) {
    via::make_receive(receives[i], in.data() + 4096 * i, 4096, in.handle());
    shared.links[i / kDepth]->post_receive(receives[i]);
    order.push_back(i / kDepth);
  }
  std::shuffle(order.begin(), order.end(), rig.random());
  rig.sync("receives are posted");
  std::array<std::uint32_t, kVis> posted{};
  for (const std::uint32_t vi : order) {
    Descriptor& d = sends[vi * kDepth + posted[vi]];
    via::make_send(d, out.data(), posted[vi] % 3 == 0 ? 3000 + posted[vi] : posted[vi],
                   out.handle());
    shared.links[vi]->post_send(d);
    ++posted[vi];
  }
  std::array<std::uint32_t, kVis> sent{};
  std::array<std::uint32_t, kVis> received{};
  for (std::uint32_t n = 0; n < 2 * kVis * kDepth; ++n) {
    Completion completion;
    REQUIRE_EQ(shared.queue->wait(completion, kLimitNs), Status::ok);
    const std::size_t vi = shared.index_of(completion.vi);
    REQUIRE(vi < kVis);
    const bool is_send = completion.queue == via::Queue::send;
    const std::uint32_t k = is_send ? sent[vi]++ : received[vi]++;
    REQUIRE(k < kDepth);
    CHECK_EQ(completion.descriptor, &(is_send ? sends : receives)[vi * kDepth + k]);
    expect_done(*completion.descriptor,
                is_send ? CompletedOperation::send : CompletedOperation::receive,
                k % 3 == 0 ? 3000 + k : k);
  }
  Completion completion;
  CHECK_EQ(shared.queue->wait(completion, kQuietNs), Status::timeout);
  rig.sync("all completed");
}

void separate(Rig& rig) {
  const auto send_queue = rig.nic().create_completion_queue(8);
  const auto receive_queue = rig.nic().create_completion_queue(8);
  via::ViAttributes attributes = vi_attributes(8);
  attributes.tag = rig.tag();
  attributes.send_queue = send_queue.get();
  attributes.receive_queue = receive_queue.get();
  const auto vi = rig.nic().create_vi(attributes);
  connect(rig, *vi);
  Buffer out(rig, 100);
  Buffer in(rig, 8 * 100);
  std::vector<Descriptor> receives(8);
  std::vector<Descriptor> sends(8);
  for (std::uint32_t i = 0; i < 8; ++i) {
    via::make_receive(receives[i], in.data() + 100 * i, 100, in.handle());
    via::make_send(sends[i], out.data(), i * 12, out.handle());
    REQUIRE_EQ(vi->post_receive(receives[i]), Status::ok);
  }
  rig.sync("receives are posted");
  for (Descriptor& d : sends) REQUIRE_EQ(vi->post_send(d), Status::ok);
  for (std::uint32_t i = 0; i < 8; ++i) {
    Completion completion;
    REQUIRE_EQ(send_queue->wait(completion, kLimitNs), Status::ok);
    CHECK(completion.queue == via::Queue::send);
    CHECK_EQ(completion.descriptor, &sends[i]);
    REQUIRE_EQ(receive_queue->wait(completion, kLimitNs), Status::ok);
    CHECK(completion.queue == via::Queue::receive);
    CHECK_EQ(completion.descriptor, &receives[i]);
  }
  rig.sync("all completed");
}

// A queue that its work queues can overrun does not exist, or says so when it is overrun.
void full(Rig& rig) {
  const auto queue = rig.nic().create_completion_queue(8);
  via::ViAttributes attributes = vi_attributes(8);
  attributes.tag = rig.tag();
  attributes.send_queue = queue.get();
  const auto first = rig.nic().create_vi(attributes);
  std::unique_ptr<via::Vi> second;
  try {
    second = rig.nic().create_vi(attributes);
  } catch (const Error&) {
  }
  if (second == nullptr) {
    // Room is made by resizing, or by a VI that goes.
    queue->resize(16);
    CHECK(rig.nic().create_vi(attributes) != nullptr);
    CHECK_THROWS(queue->resize(7));
    return;
  }
  via::ViAttributes roomy = vi_attributes(16);
  roomy.tag = rig.tag();
  const auto far = rig.nic().create_vi(roomy);
  const auto other_far = rig.nic().create_vi(roomy);
  connect_self(rig, *first, *far);
  connect_self(rig, *second, *other_far);
  Buffer buffer(rig, 8);
  std::vector<Descriptor> descriptors(32);
  for (std::uint32_t i = 0; i < 16; ++i) {
    via::make_receive(descriptors[i], buffer.data(), 8, buffer.handle());
    CHECK_EQ((i < 8 ? far : other_far)->post_receive(descriptors[i]), Status::ok);
  }
  for (std::uint32_t i = 16; i < 32; ++i) {
    via::make_send(descriptors[i], buffer.data(), 8, buffer.handle());
    CHECK_EQ((i < 24 ? first : second)->post_send(descriptors[i]), Status::ok);
  }
  bool reported = false;
  rig.progress_until([&] {
    for (const via::AsyncError& error : rig.errors()) {
      reported =
          reported || (error.cause == via::ErrorCause::queue_overrun && error.queue == queue.get());
    }
    return reported;
  });
  CHECK(reported);
  rig.forget_errors();
}

void resize(Rig& rig) {
  Link link(rig, vi_attributes(8));
  Buffer out(rig, 64);
  Buffer in(rig, 8 * 64);
  connect(rig, link);
  std::vector<Descriptor> receives(8);
  std::vector<Descriptor> sends(8);
  for (std::uint32_t i = 0; i < 8; ++i) {
    via::make_receive(receives[i], in.data() + 64 * i, 64, in.handle());
    via::make_send(sends[i], out.data(), i, out.handle());
    link.post_receive(receives[i]);
  }
  rig.sync("receives are posted");
  for (Descriptor& d : sends) link.post_send(d);
  link.expect_next_send(sends[0]);
  link.expect_next_receive(receives[0]);
  // Completions that are in it stay, in order.
  link.queue().resize(100);
  CHECK(link.queue().capacity() >= 100);
  link.expect_next_send(sends[1]);
  link.queue().resize(16);
  CHECK_THROWS(link.queue().resize(std::size_t{rig.limits().max_completion_queue} + 1));
  CHECK_THROWS(link.queue().resize(0));
  CHECK_THROWS(link.queue().resize(1));
  for (std::uint32_t i = 2; i < 8; ++i) link.expect_next_send(sends[i]);
  for (std::uint32_t i = 1; i < 8; ++i) link.expect_next_receive(receives[i]);
  rig.sync("all completed");
  expect_alive(rig, link);
}

/// As many VIs as one queue takes, and one more: that one leaves nothing behind in the queue.
void too_many_vis(Rig& rig) {
  constexpr std::size_t kTried = 5000;
  const auto queue = rig.nic().create_completion_queue(2 * kTried);
  via::ViAttributes attributes = vi_attributes(1);
  attributes.tag = rig.tag();
  attributes.send_queue = attributes.receive_queue = queue.get();
  std::vector<std::unique_ptr<via::Vi>> vis;
  bool refused = false;
  while (!refused && vis.size() < kTried) {
    try {
      vis.push_back(rig.nic().create_vi(attributes));
    } catch (const Error&) {
      refused = true;
    }
  }
  CHECK(vis.size() >= 1000);
  vis.clear();
  queue->resize(1);  // refused while room is promised to any VI
  CHECK_EQ(queue->capacity(), 1);
}

constexpr Case kCases[] = {
    {"queue.empty", "An empty completion queue answers retry", Party::alone, empty},
    {"queue.limits", "A completion queue has 1 to max_completion_queue entries", Party::alone,
     limits},
    {"queue.too_small", "A VI does not get a completion queue that is smaller than its depth",
     Party::alone, too_small},
    {"queue.shared",
     "Several VIs share one completion queue: FIFO per work queue, and each completion names its "
     "VI",
     Party::pair, shared},
    {"queue.separate", "The two work queues of a VI may have completion queues of their own",
     Party::pair, separate},
    {"queue.full", "A completion queue cannot be overrun, or reports queue overrun", Party::alone,
     full},
    {"queue.too_many_vis", "A VI that cannot be created takes no room in its completion queues",
     Party::alone, too_many_vis},
    {"queue.resize",
     "Resizing keeps completions and their order; too small and too large are refused", Party::pair,
     resize},
};

}  // namespace

std::span<const Case> queue_cases() { return kCases; }

}  // namespace viaduct::conformance
