#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"

namespace viaduct::conformance {
namespace {

using via::CompletedOperation;
using via::Descriptor;

constexpr std::uint32_t kSlot = 8192;

/// What the message number @p number of a stream is like: both ends know.
struct Plan {
  std::uint64_t seed;
  [[nodiscard]] std::uint32_t bytes(std::uint64_t number) const noexcept {
    const std::uint64_t x = (seed ^ (number * 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
    const std::uint64_t kind = (x >> 20) % 16;
    const auto size = static_cast<std::uint32_t>(x >> 32);
    if (kind == 0) return size % (kSlot + 1);
    return kind < 4 ? size % 300 : size % 65;
  }
};

/// Both directions of one VI. A message may be sent while fewer than `window` more have been sent
/// than received: then the peer has received all but 2 x window of what was sent before, and has
/// that many receives posted.
class Stream {
 public:
  Stream(Rig& rig, via::Vi& vi, std::uint64_t seed, std::uint32_t window)
      : vi_(vi),
        out_plan_{seed + rig.rank()},
        in_plan_{seed + index(vi.peer())},
        window_(window),
        out_(rig, std::size_t{window} * kSlot),
        in_(rig, std::size_t{2} * window * kSlot),
        sends_(window),
        receives_(2 * window) {
    for (std::uint32_t i = 0; i < 2 * window; ++i) post_receive(i);
  }

  [[nodiscard]] bool may_send() const noexcept {
    return sent_ < received_ + window_ && sent_ - reaped_ < window_;
  }
  void send() {
    const std::uint64_t slot = sent_ % window_;
    const std::uint32_t bytes = out_plan_.bytes(sent_);
    std::byte* const at = out_.data() + slot * kSlot;
    fill_pattern(at, bytes, out_plan_.seed + sent_);
    via::make_send(sends_[slot], at, bytes, out_.handle());
    if (sent_ % 3 == 0) via::add_immediate(sends_[slot], sent_);
    REQUIRE_EQ(vi_.post_send(sends_[slot]), Status::ok);
    ++sent_;
  }
  void on_completion(const via::Completion& completion) {
    if (completion.queue == via::Queue::send) {
      on_sent(*completion.descriptor);
    } else {
      on_received(*completion.descriptor);
    }
  }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] bool done(std::uint64_t messages) const noexcept {
    return sent_ == messages && received_ == messages && reaped_ == messages;
  }
  [[nodiscard]] std::string describe() const {
    return fmt::format("to rank {}: {} sent, {} of them completed, {} received, VI {}",
                       index(vi_.peer()), sent_, reaped_, received_, text_of(vi_.state()));
  }

 private:
  void on_sent(const Descriptor& d) {
    REQUIRE_EQ(&d, &sends_[reaped_ % window_]);
    expect_done(d, CompletedOperation::send, out_plan_.bytes(reaped_));
    ++reaped_;
  }
  void on_received(const Descriptor& d) {
    const std::uint64_t slot = received_ % (2 * window_);
    const std::uint32_t bytes = in_plan_.bytes(received_);
    REQUIRE_EQ(&d, &receives_[slot]);
    expect_done(d, CompletedOperation::receive, bytes);
    CHECK_EQ(d.has_immediate(), received_ % 3 == 0);
    if (received_ % 3 == 0) CHECK_EQ(d.immediate(), received_);
    in_.expect(in_plan_.seed + received_, slot * kSlot, bytes);
    post_receive(slot);
    ++received_;
  }
  void post_receive(std::uint64_t slot) {
    via::make_receive(receives_[slot], in_.data() + slot * kSlot, kSlot, in_.handle());
    REQUIRE_EQ(vi_.post_receive(receives_[slot]), Status::ok);
  }

  via::Vi& vi_;
  Plan out_plan_, in_plan_;
  std::uint32_t window_;
  Buffer out_, in_;
  std::vector<Descriptor> sends_, receives_;
  std::uint64_t sent_ = 0, reaped_ = 0, received_ = 0;
};

/// Many streams on one completion queue.
class Traffic {
 public:
  Traffic(Rig& rig, std::uint32_t vis, std::uint32_t window, via::Reliability level)
      : rig_(rig),
        window_(window),
        level_(level),
        random_(rig.random()() + rig.rank()),
        queue_(rig.nic().create_completion_queue(std::size_t{3} * window * vis)) {}

  via::Vi& new_vi() {
    via::ViAttributes attributes;
    attributes.tag = rig_.tag();
    attributes.reliability = level_;
    attributes.send_depth = window_;
    attributes.receive_depth = 2 * window_;
    attributes.send_queue = attributes.receive_queue = queue_.get();
    vis_.push_back(rig_.nic().create_vi(attributes));
    return *vis_.back();
  }
  /// When all VIs are connected. @p seed is the same at both ends of a VI.
  void start(std::uint64_t seed) {
    for (const auto& vi : vis_) {
      streams_.push_back(std::make_unique<Stream>(rig_, *vi, seed, window_));
      by_vi_[vi.get()] = streams_.back().get();
    }
    rig_.sync("receives are posted");
  }
  void run(std::uint64_t messages) {
    std::vector<Stream*> unfinished;
    for (const auto& stream : streams_) unfinished.push_back(stream.get());
    while (!unfinished.empty()) {
      bool moved = send_somewhere(unfinished, messages);
      moved = take_all() || moved;
      if (!moved) wait_for_one(unfinished);
      std::erase_if(unfinished, [&](const Stream* s) { return s->done(messages); });
    }
    rig_.sync("all messages");
    via::Completion completion;
    CHECK_EQ(queue_->poll(completion), Status::retry);
    rig_.sync("nothing more came");  // before the VIs go
  }

 private:
  // Mostly among a few that change now and then, so that some VIs are hot and the others cold.
  bool send_somewhere(const std::vector<Stream*>& unfinished, std::uint64_t messages) {
    if (random_() % 500 == 0) hot_ = random_();
    bool moved = false;
    for (int attempt = 0; attempt < 4; ++attempt) {
      const std::uint64_t pick = random_() % 4 == 0 ? random_() : hot_ + random_() % 3;
      Stream& stream = *unfinished[pick % unfinished.size()];
      for (std::uint64_t burst = random_() % 4 + 1; burst > 0; --burst) {
        if (!stream.may_send() || stream.sent() == messages) break;
        stream.send();
        moved = true;
      }
    }
    return moved;
  }
  bool take_all() {
    via::Completion completion;
    bool any = false;
    while (queue_->poll(completion) == Status::ok) {
      take(completion);
      any = true;
    }
    return any;
  }
  void take(const via::Completion& completion) {
    const auto found = by_vi_.find(completion.vi);
    REQUIRE(found != by_vi_.end());
    found->second->on_completion(completion);
  }
  // Nothing was sent by chance or for want of room: wait a moment; for long only when nothing
  // comes.
  void wait_for_one(const std::vector<Stream*>& unfinished) {
    via::Completion completion;
    if (queue_->wait(completion, 100'000) == Status::ok) {
      take(completion);
      quiet_since_ = 0;
      return;
    }
    if (quiet_since_ == 0) quiet_since_ = now_ns();
    if (std::any_of(unfinished.begin(), unfinished.end(),
                    [](const Stream* s) { return s->may_send(); }))
      return;
    if (now_ns() - quiet_since_ < kLimitNs) return;
    check(false,
          fmt::format("waits for messages or completions {}", unfinished.front()->describe()),
          Where::here());
    throw CaseFailed{};
  }

  Rig& rig_;
  std::uint32_t window_;
  via::Reliability level_;
  std::mt19937_64 random_;
  std::unique_ptr<via::CompletionQueue> queue_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<std::unique_ptr<via::Vi>> vis_;  // go first: they still have the streams' descriptors
  std::unordered_map<const via::Vi*, Stream*> by_vi_;
  std::uint64_t hot_ = 0;
  std::int64_t quiet_since_ = 0;
};

void one_vi(Rig& rig) {
  for (const via::Reliability level : offered_reliable_levels(rig)) {
    Note note("{}", name_of(level));
    Traffic traffic(rig, 1, 32, level);
    connect(rig, traffic.new_vi());
    traffic.start(rig.random()());
    traffic.run(50'000);
  }
}

void many_vis(Rig& rig) {
  constexpr std::uint32_t kVis = 64;
  Traffic traffic(rig, kVis, 4, offered_reliable_levels(rig)[0]);
  for (std::uint32_t i = 0; i < kVis; ++i) connect(rig, traffic.new_vi());
  traffic.start(rig.random()());
  traffic.run(500);
}

void narrow(Rig& rig) {
  constexpr std::uint32_t kVis = 10;
  for (const std::uint32_t window : {1U, 2U, 3U}) {
    Note note("window {}", window);
    Traffic traffic(rig, kVis, window, offered_reliable_levels(rig)[0]);
    for (std::uint32_t i = 0; i < kVis; ++i) connect(rig, traffic.new_vi());
    traffic.start(rig.random()());
    traffic.run(300);
  }
}

void all_to_all(Rig& rig) {
  const std::uint64_t discriminator = rig.new_discriminator();
  Traffic traffic(rig, rig.size() - 1, 4, offered_reliable_levels(rig)[0]);
  std::vector<via::Vi*> vis;
  for (std::uint32_t r = 0; r < rig.size(); ++r) {
    if (r == rig.rank()) continue;
    vis.push_back(&traffic.new_vi());
    REQUIRE_EQ(vis.back()->connect_peer_start(Rank{r}, discriminator), Status::ok);
  }
  for (via::Vi* vi : vis)
    REQUIRE_EQ(vi->connect_peer_wait(kLimitNs), via::ConnectResult::connected);
  const std::uint64_t seed = rig.random()();
  traffic.start(seed);
  traffic.run(1000);
}

constexpr Case kCases[] = {
    {"stress.one_vi", "50,000 messages each way of random sizes: all arrive, whole, in order",
     Party::pair, one_vi},
    {"stress.many_vis",
     "64 VIs on one completion queue, some busy and some not: all messages arrive in order",
     Party::pair, many_vis},
    {"stress.narrow", "So they do through queues of 1, 2 and 3 messages", Party::pair, narrow},
    {"stress.all_to_all", "All ranks talk to all others over one completion queue each", Party::all,
     all_to_all},
};

}  // namespace

std::span<const Case> stress_cases() { return kCases; }

}  // namespace viaduct::conformance
