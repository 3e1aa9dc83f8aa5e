// Provider fault's line of sends that have not left yet (docs/fault-provider.md), between two
// ranks: what stands in it goes on in every call that makes progress, whatever the program waits
// for, and whatever its error callback does. Rank 0 sends. Which sends fail is known from the dice.

#include <unistd.h>

#include <array>
#include <atomic>
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
using via::Queue;
using via::Reliability;
using via::ViState;
using via::fault::Dice;
using via::fault::Kind;

constexpr std::int64_t kLimitNs = 10'000'000'000;
constexpr std::size_t kPiece = 64;
constexpr std::uint32_t kDepth = 40;

enum class Queues : std::uint8_t { none, apart };

/// One rank's end of a connection, with its receives posted.
class End {
 public:
  End(Job& job, std::string name, Reliability reliability, Queues queues = Queues::none)
      : job_(job), name_(std::move(name)), nic(via::open_nic(job, name_)) {
    nic->on_error([this](const via::AsyncError& error) { errors.push_back(error); });
    tag = nic->create_tag();
    memory_ = nic->allocate(2 * kDepth * kPiece);
    region_ = nic->register_memory(tag, memory_, 2 * kDepth * kPiece, via::Rights::all);
    via::ViAttributes attributes;
    attributes.tag = tag;
    attributes.reliability = reliability;
    attributes.send_depth = attributes.receive_depth = kDepth;
    if (queues == Queues::apart) {
      send_queue_ = nic->create_completion_queue(kDepth);
      receive_queue = nic->create_completion_queue(kDepth);
      attributes.send_queue = send_queue_.get();
      attributes.receive_queue = receive_queue.get();
    }
    vi = nic->create_vi(attributes);
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      via::make_receive(receives[i], memory_ + i * kPiece, 8, region_.handle());
      expect(vi->post_receive(receives[i]) == Status::ok, name_ + ": no receive could be posted");
    }
    connect(*vi, 1000);
    meet();
  }
  ~End() {
    meet();
    vi.reset();
    send_queue_.reset();
    receive_queue.reset();
    region_ = {};
    nic->release(memory_);
    nic->destroy_tag(tag);
  }

  [[nodiscard]] bool first() const { return job_.rank() == Rank{0}; }
  [[nodiscard]] Dice dice() const { return Dice(via::fault::read_plan(name_), 0); }
  void meet() const {
    const std::uint32_t ticket = job_.barrier_arrive();
    while (job_.barrier_done(ticket) == Status::retry) nic->progress();
  }
  void connect(via::Vi& one, std::uint64_t discriminator) const {
    if (one.connect_peer_start(Rank{first() ? 1U : 0U}, discriminator) != Status::ok ||
        one.connect_peer_wait(kLimitNs) != via::ConnectResult::connected)
      expect(false, name_ + ": not connected");
  }

  /// @p buffer: which piece of memory is sent from.
  void send(std::uint32_t number, std::uint32_t buffer) {
    std::byte* const at = memory_ + (kDepth + buffer) * kPiece;
    const std::uint64_t value = number;
    std::memcpy(at, &value, sizeof value);
    via::make_send(sends[number], at, sizeof value, region_.handle());
    expect(vi->post_send(sends[number]) == Status::ok, name_ + ": a send was refused");
  }
  via::Descriptor* next(Queue queue, std::int64_t limit_ns) {
    via::Descriptor* d = nullptr;
    via::CompletionQueue* const attached =
        queue == Queue::send ? send_queue_.get() : receive_queue.get();
    via::Completion completion;
    if (attached != nullptr)
      return attached->wait(completion, limit_ns) == Status::ok ? completion.descriptor : nullptr;
    const Status status =
        queue == Queue::send ? vi->send_wait(d, limit_ns) : vi->receive_wait(d, limit_ns);
    return status == Status::ok ? d : nullptr;
  }
  /// The errors of the sends' statuses, in the order posted.
  void expect_sends(const std::vector<std::uint32_t>& wanted) {
    for (std::uint32_t i = 0; i < wanted.size(); ++i) {
      const via::Descriptor* const d = next(Queue::send, 1'000'000'000);
      expect(d == &sends[i], fmt::format("{}: send {} does not complete in its turn", name_, i));
      if (d == nullptr) return;
      expect_equal(sends[i].control.status & via::descriptor_status::error_mask, wanted[i],
                   fmt::format("{}: the error of send {}", name_, i));
    }
  }

 private:
  Job& job_;
  std::string name_;
  std::byte* memory_ = nullptr;
  via::MemoryRegion region_;
  std::unique_ptr<via::CompletionQueue> send_queue_;

 public:
  std::unique_ptr<via::Nic> nic;
  via::ProtectionTag tag{};
  std::unique_ptr<via::CompletionQueue> receive_queue;
  std::unique_ptr<via::Vi> vi;
  std::array<via::Descriptor, kDepth> sends, receives;
  std::vector<via::AsyncError> errors;
};

// Behind a late send.

/// @p error_of tells the error of the next send, from the sender's dice.
void in_turn(Job& job, const std::string& name,
             const std::function<std::uint32_t(Dice&)>& error_of) {
  End end(job, name, Reliability::unreliable);
  if (!end.first()) return;
  Dice dice = end.dice();
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < 8; ++i) {
    wanted.push_back(error_of(dice));
    end.send(i, i);
  }
  end.expect_sends(wanted);
}

void behind_late_sends(Job& job) {
  for (const int seed : {1, 2, 3})
    in_turn(job, fmt::format("fault(shm,L=1000,drop=0.5,seed={})", seed), [](Dice&) { return 0U; });
  for (const int seed : {3, 4})
    in_turn(job, fmt::format("fault(shm,g=1000,error=0.5,seed={})", seed), [](Dice& dice) {
      return dice.falls_on(Kind::error) ? via::descriptor_status::transport_error : 0U;
    });
  for (const int seed : {3, 7, 8}) {
    bool lost = false;
    in_turn(job, fmt::format("fault(shm,disconnect=0.2,drop=0.5,seed={})", seed),
            [&lost](Dice& dice) {
              lost = dice.falls_on(Kind::disconnect) || lost;
              return lost ? via::descriptor_status::flushed : 0U;
            });
  }
}

// A failure while the program waits for something else than its sends.

/// Waits until the VI is in the error state. @p wait is to make progress.
using Wait = std::function<void(End&)>;

void fails_meanwhile(Job& job, Queues queues, const char* how, const Wait& wait) {
  End end(job, "fault(shm,error=0.4,seed=3)", Reliability::delivery, queues);
  if (!end.first()) return;
  Dice dice = end.dice();
  std::vector<std::uint32_t> wanted;
  while (!dice.falls_on(Kind::error)) wanted.push_back(0);
  wanted.push_back(via::descriptor_status::transport_error);
  expect(wanted.size() > 1, "choose a seed that fails later");
  for (std::uint32_t i = 0; i < wanted.size(); ++i) end.send(i, i);
  wait(end);
  expect(end.vi->state() == ViState::error, fmt::format("{}: nothing has failed", how));
  expect_equal(end.errors.size(), 1U, fmt::format("{}: errors", how));
  end.expect_sends(wanted);
}

void expect_flushed(End& end) {
  const via::Descriptor* const d = end.next(Queue::receive, 1'000'000'000);
  expect(d == end.receives.data() && d->failed(), "the receive is not flushed");
}

/// Until the queue of receives has told that a poll is worth while, and the poll finds a receive.
void await_notice(End& end) {
  std::atomic<bool> told{false};
  const std::uint64_t start = monotonic_ns();
  via::Completion completion;
  while (monotonic_ns() - start < 1'000'000'000) {
    told.store(false);
    expect(end.receive_queue->notify([&told] { told.store(true); }) == Status::ok, "not armed");
    while (!told.load() && monotonic_ns() - start < 2'000'000'000) usleep(100);
    expect(told.load(), "nothing is told of a failure that waits");
    if (!told.load()) std::_Exit(1);  // a queue that is armed may not end
    if (end.receive_queue->poll(completion) != Status::ok) continue;
    expect(completion.descriptor->failed(), "the receive is not flushed");
    return;
  }
  expect(false, "the receives are not flushed");
}

/// The sends are posted while the queue of receives is armed.
void fails_while_armed(Job& job) {
  End end(job, "fault(shm,error=0.4,seed=3)", Reliability::delivery, Queues::apart);
  if (!end.first()) return;
  std::atomic<bool> told{false};
  expect(end.receive_queue->notify([&told] { told.store(true); }) == Status::ok, "not armed");
  Dice dice = end.dice();
  std::uint32_t sent = 0;
  do end.send(sent, sent);
  while (++sent < kDepth && !dice.falls_on(Kind::error));
  const std::uint64_t start = monotonic_ns();
  while (!told.load() && monotonic_ns() - start < 2'000'000'000) usleep(100);
  expect(told.load(), "nothing is told of a failure that comes while the queue is armed");
  if (!told.load()) std::_Exit(1);  // a queue that is armed may not end
  expect_flushed(end);
}

void while_waiting(Job& job) {
  fails_meanwhile(job, Queues::none, "a receive is awaited", expect_flushed);
  fails_meanwhile(job, Queues::apart, "a queue of receives is awaited", expect_flushed);
  fails_meanwhile(job, Queues::apart, "a notice is awaited", await_notice);
  fails_while_armed(job);
  for (const Queues queues : {Queues::none, Queues::apart})
    fails_meanwhile(job, queues, "progress()", [](End& end) {
      const std::uint64_t start = monotonic_ns();
      while (end.vi->state() != ViState::error && monotonic_ns() - start < 1'000'000'000)
        end.nic->progress();
    });
}

// Error callbacks that make and destroy VIs.

void callback(Job& job, const std::string& name, bool destroys) {
  End end(job, name, Reliability::delivery);
  std::vector<std::unique_ptr<via::Vi>> vis, more;
  via::ViAttributes attributes;
  attributes.tag = end.tag;
  int errors = 0;
  end.nic->on_error([&](const via::AsyncError& error) {
    ++errors;
    for (int i = 0; i < 8; ++i) more.push_back(end.nic->create_vi(attributes));
    for (std::unique_ptr<via::Vi>& vi : vis)
      if (destroys && vi.get() == error.vi) vi.reset();
  });
  for (std::uint64_t i = 0; i < 4; ++i) {
    vis.push_back(end.nic->create_vi(attributes));
    end.connect(*vis.back(), i);
  }
  end.meet();
  std::array<via::Descriptor, 4> sends;
  for (std::size_t i = 0; end.first() && i < sends.size(); ++i) {
    via::make_send(sends[i], nullptr, 0, via::MemoryHandle::none);
    if (vis[i] != nullptr) expect(vis[i]->post_send(sends[i]) == Status::ok, "a send was refused");
  }
  via::Descriptor* d = nullptr;
  for (std::size_t i = 0; end.first() && i < sends.size(); ++i)
    if (vis[i] != nullptr) (void)vis[i]->send_wait(d, 20'000'000);
  if (end.first()) expect(errors > 1, fmt::format("{}: {} errors", name, errors));
  end.meet();
  vis.clear();
  more.clear();
}

void callbacks(Job& job) {
  for (const char* name :
       {"fault(shm,error=0.6,seed=2,L=1000000)", "fault(shm,disconnect=0.5)", "fault(shm,error=1)"})
    for (const bool destroys : {false, true}) callback(job, name, destroys);
}

void default_callback(Job& job) {
  End end(job, "fault(shm,error=1)", Reliability::delivery);
  end.nic->on_error({});
  if (!end.first()) return;
  std::FILE* const file = std::tmpfile();
  const int kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  end.send(0, 0);
  (void)end.next(Queue::send, 1'000'000'000);
  dup2(kept, STDERR_FILENO);
  close(kept);
  std::array<char, 4096> text{};
  std::rewind(file);
  const std::size_t bytes = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  const std::string log(text.data(), bytes);
  expect(log.find("fault(shm,error=1): VI to rank 1 failed: transport failed") != std::string::npos,
         "the default of on_error logs: " + log);
}

// Descriptors.

void dropped_in_the_error_state(Job& job) {
  End end(job, "fault(shm,drop=1)", Reliability::unreliable);
  if (!end.first()) end.vi->disconnect();
  end.meet();
  if (!end.first()) return;
  const std::uint64_t start = monotonic_ns();
  while (end.vi->state() != ViState::error && monotonic_ns() - start < kLimitNs)
    end.nic->progress();
  end.send(0, 0);
  end.expect_sends({via::descriptor_status::flushed});
}

/// The sender writes into the memory again when a send has completed.
void duplicates_that_leave_late(Job& job) {
  End end(job, "fault(fault(shm,g=2000000),duplicate=1)", Reliability::unreliable);
  constexpr std::uint32_t kSent = 8;
  if (end.first()) {
    for (std::uint32_t i = 0; i < kSent; ++i) {
      end.send(i, 0);
      expect(end.next(Queue::send, kLimitNs) == &end.sends[i], "a send does not complete");
    }
  } else {
    for (std::uint64_t i = 0; i < 2 * kSent; ++i) {
      const via::Descriptor* const d = end.next(Queue::receive, kLimitNs);
      expect(d != nullptr, "a message is missing");
      if (d == nullptr) return;
      std::uint64_t value = 0;
      std::memcpy(&value, d->segments()[0].local.address, sizeof value);
      expect_equal(value, i / 2, "a message, or its copy");
    }
  }
}

/// A refusal's sentence; "": nothing is refused.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.sentence();
  }
  return {};
}

void expect_refusal(const std::string& wanted, const std::function<void()>& call) {
  const std::string got = refusal(call);
  expect(got.find(wanted) != std::string::npos,
         fmt::format("\"{}\" does not say \"{}\"", got, wanted));
}

void sizes_with_duplicates(Job& job) {
  const auto nic = via::open_nic(job, "fault(shm,duplicate=0.1)");
  const std::uint32_t most = nic->attributes().max_queue_depth;
  const std::uint32_t most_entries = nic->attributes().max_completion_queue;
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  const auto make = [&](std::uint32_t send_depth, std::uint32_t receive_depth) {
    attributes.send_depth = send_depth;
    attributes.receive_depth = receive_depth;
    (void)nic->create_vi(attributes);
  };
  const std::string limits = fmt::format("allows 1 to {}", most);
  for (const std::uint32_t wrong : {0U, most + 1, 0x80000001U}) {
    expect_refusal(fmt::format("send depth {}:", wrong), [&] { make(wrong, 64); });
    expect_refusal(fmt::format("receive depth {}:", wrong), [&] { make(64, wrong); });
    expect_refusal(limits, [&] { make(wrong, 64); });
  }
  make(most, most);
  for (const std::size_t wrong :
       {std::size_t{0}, std::size_t{most_entries} + 1, (std::size_t{1} << 63) + 1})
    expect_refusal(fmt::format("completion queue of {} entries", wrong),
                   [&] { (void)nic->create_completion_queue(wrong); });
  const auto queue = nic->create_completion_queue(64);
  attributes.send_queue = attributes.receive_queue = queue.get();
  expect_refusal("65 descriptors do not fit a completion queue of 64 entries, 0 of them",
                 [&] { make(32, 33); });
  make(32, 32);  // and gone again
  attributes.send_depth = 32;
  const auto vi = nic->create_vi(attributes);
  expect_refusal("may hold 64 descriptors", [&] { queue->resize(63); });
  expect_refusal("completion queue of 0 entries", [&] { queue->resize(0); });
  queue->resize(100);
  expect_equal(queue->capacity(), 100U, "the capacity");
}

int body(Job& job, int /*argc*/, char** /*argv*/) {
  behind_late_sends(job);
  while_waiting(job);
  callbacks(job);
  default_callback(job);
  dropped_in_the_error_state(job);
  duplicates_that_leave_late(job);
  sizes_with_duplicates(job);
  if (failures == 0 && job.rank() == Rank{0}) std::puts("fault_provider_line: all cases passed");
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
