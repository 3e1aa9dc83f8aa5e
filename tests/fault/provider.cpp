// Provider fault (docs/fault-provider.md) between two ranks: each setting does what its table says,
// and no more. What fails is known beforehand: the test throws the same dice. Times are checked
// from below only, since a busy machine makes everything later.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/fault/expect.hpp"
#include "via/fault/src/plan.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/via/nic.hpp"

namespace {

using namespace viaduct;
using test::expect;
using test::expect_equal;
using test::failures;
using via::fault::Dice;
using via::fault::Kind;

constexpr std::uint32_t kMessages = 200;
constexpr std::int64_t kLimitNs = 60'000'000'000;

/// One rank's end of a connection over a NIC with failures, with room for all messages of a case.
class End {
 public:
  End(Job& job, std::string name, via::Reliability reliability)
      : job_(job), plan_(via::fault::read_plan(name)), nic_(via::open_nic(job, name)) {
    nic_->on_error([this](const via::AsyncError& error) { errors.push_back(error); });
    queue_ = nic_->create_completion_queue(4 * kMessages);
    tag_ = nic_->create_tag();
    memory_ = nic_->allocate(kMessages * kPiece * 2);
    region_ = nic_->register_memory(tag_, memory_, kMessages * kPiece * 2, via::Rights::all);
    via::ViAttributes attributes;
    attributes.tag = tag_;
    attributes.reliability = reliability;
    attributes.send_depth = attributes.receive_depth = kMessages;
    attributes.send_queue = attributes.receive_queue = queue_.get();
    vi = nic_->create_vi(attributes);
    sends.resize(kMessages);
    receives.resize(kMessages);
  }
  ~End() {
    meet();
    vi.reset();
    region_ = {};
    nic_->release(memory_);
    queue_.reset();
    nic_->destroy_tag(tag_);
  }

  [[nodiscard]] bool first() const { return job_.rank() == Rank{0}; }
  [[nodiscard]] Dice dice() const { return Dice(plan_, 0); }  // those of rank 0, the sender

  /// All receives are posted before the two are connected: none is missing when a message comes.
  void connect() {
    if (vi->connect_peer_start(Rank{first() ? 1U : 0U}, ++discriminator_) != Status::ok)
      expect(false, "the connection could not be started");
    expect(vi->connect_peer_wait(kLimitNs) == via::ConnectResult::connected, "not connected");
    meet();
  }
  void post_receives(std::uint32_t bytes = sizeof(std::uint64_t)) {
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      std::byte* const at = memory_ + (kMessages + i) * kPiece;
      via::make_receive(receives[i], at, bytes, region_.handle());
      expect(vi->post_receive(receives[i]) == Status::ok, "a receive could not be posted");
    }
  }
  Status send(std::uint32_t number, std::uint32_t bytes = sizeof(std::uint64_t)) {
    std::byte* const at = memory_ + number * kPiece;
    const std::uint64_t value = number;
    std::memcpy(at, &value, sizeof value);
    via::make_send(sends[number], at, bytes, region_.handle());
    return vi->post_send(sends[number]);
  }
  [[nodiscard]] std::uint64_t value_of(const via::Descriptor& receive) const {
    std::uint64_t value = 0;
    std::memcpy(&value, receive.segments()[0].local.address, sizeof value);
    return value;
  }

  /// The next completion of this kind; others are kept for later.
  via::Descriptor* next(via::Queue kind, std::int64_t limit_ns = kLimitNs) {
    std::vector<via::Descriptor*>& kept = kept_[static_cast<std::size_t>(kind)];
    const std::uint64_t start = monotonic_ns();
    while (kept.empty()) {
      via::Completion completion;
      const auto waited = static_cast<std::int64_t>(monotonic_ns() - start);
      if (waited > limit_ns) return nullptr;
      if (queue_->wait(completion, limit_ns - waited) != Status::ok) return nullptr;
      expect(completion.vi == vi.get(), "a completion names another VI");
      kept_[static_cast<std::size_t>(completion.queue)].push_back(completion.descriptor);
    }
    via::Descriptor* const next = kept.front();
    kept.erase(kept.begin());
    return next;
  }
  /// What has come once the sender is through: its messages are in this rank's memory.
  std::vector<std::uint64_t> values_received() {
    std::vector<std::uint64_t> values;
    while (via::Descriptor* d = next(via::Queue::receive, 20'000'000))
      if (!d->failed()) values.push_back(value_of(*d));
    return values;
  }

  void meet() {
    const std::uint32_t ticket = job_.barrier_arrive();
    while (job_.barrier_done(ticket) == Status::retry) nic_->progress();
  }

  std::unique_ptr<via::Vi> vi;
  std::vector<via::Descriptor> sends, receives;
  std::vector<via::AsyncError> errors;

 private:
  static constexpr std::size_t kPiece = 1024;
  Job& job_;
  via::fault::Plan plan_;
  std::unique_ptr<via::Nic> nic_;
  std::unique_ptr<via::CompletionQueue> queue_;
  via::ProtectionTag tag_{};
  std::byte* memory_ = nullptr;
  via::MemoryRegion region_;
  std::array<std::vector<via::Descriptor*>, 2> kept_;
  std::uint64_t discriminator_ = 1000;
};

// Delays.

/// The shortest of a few round trips, of 8 bytes each way.
double shortest_round_trip(Job& job, const std::string& name) {
  End end(job, name, via::Reliability::delivery);
  end.post_receives();
  end.connect();
  double shortest = 1e18;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const std::uint64_t start = monotonic_ns();
    if (end.first()) expect(end.send(i) == Status::ok, "a send was refused");
    expect(end.next(via::Queue::receive) != nullptr, "no message");
    if (!end.first()) expect(end.send(i) == Status::ok, "a send was refused");
    shortest = std::min(shortest, static_cast<double>(monotonic_ns() - start));
  }
  return shortest;
}

void latency_and_overheads(Job& job) {
  const bool first = job.rank() == Rank{0};
  const double late = shortest_round_trip(job, "fault(shm,L=300000,o_s=20000,o_r=30000)");
  if (first) expect(late >= 2 * 350'000, fmt::format("a round trip took {} ns", late));
  const double nested = shortest_round_trip(job, "fault(fault(shm,L=200000),L=100000)");
  if (first) expect(nested >= 2 * 300'000, fmt::format("nested: a round trip took {} ns", nested));
}

/// The time from the first post to the last completion at the sender.
void gap(Job& job, const std::string& name, std::uint32_t bytes, double least_ns) {
  End end(job, name, via::Reliability::delivery);
  end.post_receives(bytes);
  end.connect();
  constexpr std::uint32_t kBurst = 20;
  const std::uint64_t start = monotonic_ns();
  for (std::uint32_t i = 0; end.first() && i < kBurst; ++i)
    expect(end.send(i, bytes) == Status::ok, "a send was refused");
  for (std::uint32_t i = 0; i < kBurst; ++i) {
    const via::Descriptor* const d = end.next(end.first() ? via::Queue::send : via::Queue::receive);
    expect(d != nullptr && !d->failed(), "a message is missing");
    if (d != nullptr && !end.first()) expect_equal(end.value_of(*d), i, "the order");
  }
  const auto took = static_cast<double>(monotonic_ns() - start);
  if (end.first())
    expect(took >= (kBurst - 1) * least_ns, fmt::format("{}: a burst took {} ns", name, took));
}

void gaps(Job& job) {
  gap(job, "fault(shm,g=100000)", sizeof(std::uint64_t), 100'000);
  gap(job, "fault(shm,G=100)", 1000, 100'000);
}

// Losses on unreliable VIs.

/// Sends all messages and compares what comes with @p wanted, which throws the sender's dice.
void losses(Job& job, const std::string& name,
            const std::function<std::vector<std::uint64_t>(Dice&)>& wanted) {
  End end(job, name, via::Reliability::unreliable);
  end.post_receives();
  end.connect();
  const std::uint32_t sent = kMessages / 2;  // each may come twice
  for (std::uint32_t i = 0; end.first() && i < sent; ++i)
    expect(end.send(i) == Status::ok, "a send was refused");
  for (std::uint32_t i = 0; end.first() && i < sent; ++i) {
    const via::Descriptor* const d = end.next(via::Queue::send);
    expect(d == &end.sends[i] && !d->failed(), fmt::format("{}: send {} has failed", name, i));
  }
  end.meet();
  if (end.first()) return;
  Dice dice = end.dice();
  const std::vector<std::uint64_t> values = end.values_received();
  const std::vector<std::uint64_t> all = wanted(dice);
  expect(values == all, fmt::format("{}: {} of {} messages came", name, values.size(), all.size()));
  expect(end.vi->state() == via::ViState::connected, name + ": the VI did not survive");
}

void drops_and_duplicates(Job& job) {
  losses(job, "fault(shm)", [](Dice&) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < kMessages / 2; ++i) all.push_back(i);
    return all;
  });
  losses(job, "fault(shm,drop=0.3,seed=5)", [](Dice& dice) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < kMessages / 2; ++i)
      if (!dice.falls_on(Kind::drop)) all.push_back(i);
    expect(all.size() < kMessages / 2, "the seed drops nothing");
    return all;
  });
  losses(job, "fault(shm,duplicate=0.3,seed=6)", [](Dice& dice) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < kMessages / 2; ++i)
      all.insert(all.end(), dice.falls_on(Kind::duplicate) ? 2 : 1, i);
    expect(all.size() > kMessages / 2, "the seed duplicates nothing");
    return all;
  });
}

void corruption(Job& job) {
  const std::string name = "fault(shm,corrupt=0.5,seed=11)";
  End end(job, name, via::Reliability::unreliable);
  end.post_receives();
  end.connect();
  for (std::uint32_t i = 0; end.first() && i < kMessages; ++i) {
    expect(end.send(i) == Status::ok, "a send was refused");
    (void)end.next(via::Queue::send);
  }
  end.meet();
  if (end.first()) return;
  const std::vector<std::uint64_t> values = end.values_received();
  expect_equal(values.size(), kMessages, "messages that came");
  Dice dice(via::fault::read_plan(name), 1);  // the receiver's
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    const bool changed = dice.falls_on(Kind::corrupt);
    const std::uint64_t bit = changed ? std::uint64_t{1} << dice.below(Kind::corrupt, 64) : 0;
    expect_equal(values[i], i ^ bit, fmt::format("message {}", i));
  }
}

// Ends of a connection.

/// The first @p good sends succeed, the next one has @p status, the rest is flushed; the VI can be
/// connected again afterwards, and fails no more when the dice say so.
void breaks(Job& job, const std::string& name, Kind kind, std::uint32_t status,
            via::ErrorCause cause) {
  End end(job, name, via::Reliability::delivery);
  Dice dice = end.dice();
  std::uint32_t good = 0;
  while (!dice.falls_on(kind)) ++good;
  expect(good > 2 && good < 100, fmt::format("{}: choose a seed that fails later", name));
  end.post_receives();
  end.connect();
  if (end.first()) {
    for (std::uint32_t i = 0; i < good + 3; ++i)
      expect(end.send(i) == Status::ok, "a send was refused");
    for (std::uint32_t i = 0; i < good + 3; ++i) {
      const via::Descriptor* const d = end.next(via::Queue::send);
      expect(d == &end.sends[i], fmt::format("{}: send {} comes out of order", name, i));
      const std::uint32_t wanted =
          i < good ? 0 : (i == good ? status : via::descriptor_status::flushed);
      expect_equal(end.sends[i].control.status & via::descriptor_status::error_mask, wanted,
                   fmt::format("{}: the status of send {}", name, i));
    }
    expect(end.vi->state() == via::ViState::error, name + ": the sender is not in the error state");
    expect_equal(end.errors.size(), 1U, name + ": asynchronous errors");
    if (!end.errors.empty()) {
      expect(end.errors[0].cause == cause, name + ": another cause");
      expect(end.errors[0].vi == end.vi.get(), name + ": another VI is named");
    }
    expect(end.vi->post_receive(end.receives[0]) == Status::retry, "the queue is not full");
    for (std::uint32_t i = 0; i < kMessages; ++i) {  // the own receives, flushed in order
      const via::Descriptor* const d = end.next(via::Queue::receive);
      expect(d == &end.receives[i] && d->failed(), fmt::format("{}: receive {}", name, i));
    }
  } else {
    for (std::uint32_t i = 0; i < kMessages; ++i) {
      const via::Descriptor* const d = end.next(via::Queue::receive);
      expect(d == &end.receives[i], fmt::format("{}: receive {} out of order", name, i));
      expect_equal(end.receives[i].failed(), i >= good, fmt::format("{}: receive {}", name, i));
    }
  }
  end.meet();
  end.vi->disconnect();
  end.post_receives();
  end.connect();  // alive again
}

void ends_of_connections(Job& job) {
  breaks(job, "fault(shm,error=0.03,seed=3)", Kind::error, via::descriptor_status::transport_error,
         via::ErrorCause::transport);
  breaks(job, "fault(shm,disconnect=0.03,seed=3)", Kind::disconnect,
         via::descriptor_status::flushed, via::ErrorCause::connection_lost);
  breaks(job, "fault(shm,error=0.03,L=20000,seed=3)", Kind::error,
         via::descriptor_status::transport_error, via::ErrorCause::transport);
}

// Refusals.

void full_queues(Job& job) {
  End end(job, "fault(shm,full=0.4,seed=9)", via::Reliability::delivery);
  end.connect();
  Dice own(via::fault::read_plan("fault(shm,full=0.4,seed=9)"), index(job.rank()));
  for (std::uint32_t i = 0; i < 50; ++i) {
    via::make_receive(end.receives[i], nullptr, 0, via::MemoryHandle::none);
    expect_equal(end.vi->post_receive(end.receives[i]) == Status::retry, own.falls_on(Kind::full),
                 fmt::format("post {}", i));
  }
}

void refused_registrations(Job& job) {
  const std::string name = "fault(shm,refuse=0.5,seed=2)";
  const auto nic = via::open_nic(job, name);
  Dice dice(via::fault::read_plan(name), index(job.rank()));
  const via::ProtectionTag tag = nic->create_tag();
  std::array<std::byte, 64> memory{};
  std::uint32_t refused = 0;
  for (std::uint32_t i = 0; i < 40; ++i) {
    bool taken = true;
    try {
      (void)nic->register_memory(tag, memory.data(), memory.size(), via::Rights::none);
    } catch (const Error& error) {
      taken = false;
      expect(error.sentence().find("seed 2") != std::string::npos, error.what());
    }
    expect_equal(!taken, dice.falls_on(Kind::refuse), fmt::format("registration {}", i));
    refused += taken ? 0 : 1;
  }
  expect(refused > 5 && refused < 35, fmt::format("{} of 40 were refused", refused));
  nic->destroy_tag(tag);
}

int body(Job& job, int /*argc*/, char** /*argv*/) {
  latency_and_overheads(job);
  gaps(job);
  drops_and_duplicates(job);
  corruption(job);
  ends_of_connections(job);
  full_queues(job);
  refused_registrations(job);
  if (failures == 0 && job.rank() == Rank{0}) std::puts("fault_provider: all cases passed");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
