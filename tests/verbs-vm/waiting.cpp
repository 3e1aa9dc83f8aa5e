/// @file
/// Nothing arrives any more, neither messages nor control messages, though all ports are up, and a
/// rank that only waits has nothing under way: it must learn of that all the same
/// (VIADUCT_VERBS_KEEPALIVE). Two ranks over verbs:
///
///   waiting messages CUT HEAL   of Active Messages: commands that cut the network, and heal it
///   waiting parted CUT HEAL     the network is healed before that rank looks, but the other has
///                               given it up; with VIADUCT_VERBS_SILENCE=2s
///   waiting vis CUT HEAL        of VIs
///   waiting ready               nothing is cut, but the control messages that say that a queue
///                               pair takes packets say nothing
///   waiting ended               nothing is cut, but an endpoint is no more, and its peer looks
///                               seldom: it is not out of reach

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "tests/verbs-vm/talk.hpp"
#include "via/verbs/src/library.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/via/control_message.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/nic.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::faults;
using via::verbs::Library;

/// Until what was sent last has been answered, and the connection has been tried a few times: with
/// VIADUCT_VERBS_KEEPALIVE=1s, unless WAITING_IDLE_MS says that it is tried more often.
std::int64_t idle_ns() {
  const char* const ms = std::getenv("WAITING_IDLE_MS");
  return (ms != nullptr ? std::strtoll(ms, nullptr, 10) : 3500) * 1'000'000;
}

void run_command(const char* command) { expect(std::system(command) == 0, command); }

void say_when(const char* how, std::uint64_t start) {
  std::printf("%s: told after %lu ms\n", how,
              static_cast<unsigned long>((monotonic_ns() - start) / 1'000'000));
}

template <class Work>
void repeat_for(std::uint64_t ns, Work&& work) {
  for (const std::uint64_t start = monotonic_ns(); monotonic_ns() - start < ns;) work();
}

// Active Messages.

/// Rank 1's request has arrived, and is handled only when rank 1 has got it back.
void unanswered(Talk& talk, const char* cut, const char* heal) {
  talk.expect_answers("they talk at first");
  if (talk.first()) {
    talk.fence();
    run_command(cut);
    talk.fence();
    talk.fence();
    talk.expect_loss("who looks at last learns of it, too");
    run_command(heal);
  } else {
    expect(talk.endpoint().request<on_request>(talk.other()) == Status::ok, "a request is taken");
    (void)talk.bundle().wait_until([] { return false; }, idle_ns());
    expect(g_replies == 20 && g_back == 0, "nobody has looked at it");
    talk.fence();
    talk.fence();
    const std::uint64_t start = monotonic_ns();
    expect(talk.bundle().wait_until([] { return g_back == 1; }, kBoundNs) == Status::ok,
           "a request that is not answered comes back");
    say_when("who waits for an answer", start);
    talk.fence();
  }
  talk.fence();
}

/// Rank 1 waits for messages of rank 0's, in one way and the other.
void without_request(Talk& talk, const char* cut, const char* heal, bool polls) {
  talk.expect_answers("those who meet after that talk");
  if (talk.first()) run_command(cut);
  talk.fence();
  if (!talk.first()) {
    talk.await_loss(polls);
    expect(talk.endpoint().try_request<on_request>(talk.other()) == Status::peer_lost,
           polls ? "who polls has been told" : "who sleeps has been told");
  }
  talk.fence();
  if (talk.first()) {
    talk.expect_loss("so has the other, when it looks");
    run_command(heal);
  }
  talk.fence();
}

void parted(Job& job, const char* cut, const char* heal) {
  constexpr std::uint64_t kSilenceNs = 2'000'000'000;
  Talk talk(job);
  talk.expect_answers("they talk at first");
  if (talk.first()) {
    run_command(cut);
    talk.expect_loss("who sends learns that nothing arrives");
    repeat_for(2 * kSilenceNs, [&] { (void)talk.bundle().wait(10'000'000); });
    run_command(heal);
  }
  talk.fence();
  if (!talk.first()) {
    // Who sleeps asks to be woken, which would tell.
    talk.await_loss(true);
    expect(talk.endpoint().try_request<on_request>(talk.other()) == Status::peer_lost,
           "who looks afterwards is told");
  }
  talk.fence();
  talk.expect_answers("those who meet after that talk");
}

/// @p asks: rank 1's request is on its way to the endpoint that is no more, else rank 1 sends one
/// afterwards.
void ended(Talk& talk, bool asks) {
  constexpr std::int64_t kLooks = 40;  // fewer than the 64 in which control messages are looked for
  am::Undeliverable why{};             // as long as there is an endpoint that may say it
  talk.expect_answers("they talk");
  const auto ask = [&] {
    expect(talk.endpoint().request<on_request>(talk.other()) == Status::ok, "taken");
  };
  if (!talk.first()) {
    talk.endpoint().set_undeliverable_handler([&](const am::Returned& returned) {
      why = returned.status;
      ++g_back;
    });
    // Who has slept looks for control messages with its next poll: now, so that it does not below.
    constexpr std::uint64_t kSleepNs = 50'000'000;
    (void)talk.bundle().wait_until([] { return false; }, kSleepNs);
    talk.bundle().poll();
  }
  talk.fence();
  if (talk.first()) talk.end();
  talk.fence();
  if (!talk.first()) {
    if (asks) ask();
    for (std::int64_t i = 0; i < kLooks; ++i) {
      talk.bundle().poll();
      std::this_thread::sleep_for(std::chrono::nanoseconds(idle_ns() / kLooks));
    }
    if (!asks) ask();
    expect(talk.bundle().wait_until([] { return g_back == 1; }, kBoundNs) == Status::ok &&
               why == am::Undeliverable::bad_endpoint,
           "it comes back, since there is no such endpoint");
  }
  // Rank 0 polls meanwhile: who knows of the end asks it for a connection, which it refuses.
  expect(talk.bundle().barrier() == Status::ok, "both are there");
  talk.fence();
}

void ended(Job& job) {
  Talk talk(job);
  for (const bool asks : {true, false}) ended(talk, asks);
  talk.expect_answers("other endpoints talk");
}

void messages(Job& job, const char* cut, const char* heal) {
  Talk talk(job);
  unanswered(talk, cut, heal);
  without_request(talk, cut, heal, false);
  without_request(talk, cut, heal, true);
  talk.expect_answers("those who meet after that talk");
  if (!talk.first()) (void)talk.bundle().wait_until([] { return false; }, idle_ns());
  g_replies = g_handled = 0;
  talk.fence();
  talk.expect_answers_now("those who have been silent for long, too");
}

// VIs.

class Link {
 public:
  static constexpr std::uint32_t kBytes = 64;

  /// @p polls: nothing but the queue that is waited for is looked at.
  Link(Job& job, via::Nic& nic, via::Reliability reliability, bool polls)
      : job_(job), nic_(nic), polls_(polls), memory_(nic.allocate(kBytes)) {
    via::ViAttributes attributes;
    attributes.tag = tag_ = nic.create_tag();
    attributes.reliability = reliability;
    attributes.send_depth = 1;  // one request of the program's, besides those that try
    region_ = nic.register_memory(tag_, memory_, kBytes, via::Rights::all);
    vi_ = nic.create_vi(attributes);
    if (!first()) post_receive();
    expect(vi_->connect_peer_start(Rank{1 - index(job.rank())}, 1) == Status::ok, "started");
    expect(vi_->connect_peer_wait(kBoundNs) == via::ConnectResult::connected, "connected");
    job.bootstrap().fence();
  }
  ~Link() {
    vi_.reset();
    region_ = {};
    nic_.release(memory_);
    nic_.destroy_tag(tag_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] via::Vi& vi() { return *vi_; }
  [[nodiscard]] bool first() const { return index(job_.rank()) == 0; }

  void post_receive() {
    via::make_receive(descriptor_, memory_, kBytes, region_.handle());
    expect(vi_->post_receive(descriptor_) == Status::ok, "a receive is posted");
  }
  /// For a while, or until the VI is in that state.
  void be_idle(std::uint64_t ns, via::ViState until = via::ViState::idle) {
    for (const std::uint64_t start = monotonic_ns();
         monotonic_ns() - start < ns && vi_->state() != until;) {
      via::Descriptor* done = nullptr;
      if (!polls_)
        nic_.progress();
      else
        expect((first() ? vi_->send_done(done) : vi_->receive_done(done)) == Status::retry,
               "nothing has come");
      sched_yield();
    }
  }
  /// Answers the status, or all ones when nothing has come.
  std::uint32_t await() {
    via::Descriptor* done = nullptr;
    Status status = Status::retry;
    if (!polls_)
      status = first() ? vi_->send_wait(done, kBoundNs) : vi_->receive_wait(done, kBoundNs);
    for (const std::uint64_t start = monotonic_ns();
         polls_ && status == Status::retry && monotonic_ns() - start < kBoundNs;)
      status = first() ? vi_->send_done(done) : vi_->receive_done(done);
    return status == Status::ok ? descriptor_.control.status & via::descriptor_status::error_mask
                                : ~0U;
  }
  void expect_message(const char* what) {
    job_.bootstrap().fence();  // nothing comes before it is looked for
    if (first()) {
      via::make_send(descriptor_, memory_, kBytes, region_.handle());
      expect(vi_->post_send(descriptor_) == Status::ok, "a message is taken");
    }
    expect(await() == 0, what);
    if (!first()) post_receive();
    job_.bootstrap().fence();
  }

 private:
  Job& job_;
  via::Nic& nic_;
  bool polls_;
  std::byte* memory_;
  via::ProtectionTag tag_{};
  via::MemoryRegion region_;
  via::Descriptor descriptor_{};
  std::unique_ptr<via::Vi> vi_;
};

void vis(Job& job, const char* cut, const char* heal) {
  constexpr int kMessages = 60;
  const auto long_ns = static_cast<std::uint64_t>(idle_ns());
  const std::uint64_t between_ns = long_ns / 90;
  const auto nic = via::open_nic(job, "verbs");
  via::ErrorCause cause = via::ErrorCause::none;
  nic->on_error([&](const via::AsyncError& error) { cause = error.cause; });
  for (const bool polls : {false, true}) {
    const auto reliability = polls ? via::Reliability::reception : via::Reliability::delivery;
    cause = via::ErrorCause::none;
    Link link(job, *nic, reliability, polls);
    // More time than two trials take.
    for (int i = 0; i < kMessages; ++i) {
      link.be_idle(between_ns);
      link.expect_message("messages arrive, whatever is tried between them");
    }
    link.be_idle(long_ns);
    link.expect_message("and after a time without any");
    if (link.first()) run_command(cut);
    job.bootstrap().fence();
    const std::uint64_t start = monotonic_ns();
    if (!link.first()) {
      expect(link.await() == via::descriptor_status::flushed, "a receive does not wait for ever");
      say_when("who waits for a message", start);
    }
    job.bootstrap().fence();  // rank 0 has not looked meanwhile
    if (link.first()) link.be_idle(kBoundNs, via::ViState::error);
    expect(link.vi().state() == via::ViState::error, "both know");
    expect(cause == via::ErrorCause::connection_lost, "and why");
    job.bootstrap().fence();
    if (link.first()) run_command(heal);
    job.bootstrap().fence();
  }
  nic->on_error(nullptr);
}

// Control messages that say nothing.

// As ControlPath writes them.
struct Packet {
  std::uint32_t key, from, number, acknowledged, bytes, oldest;
  std::byte message[sizeof(via::ControlHead)];
};
constexpr std::size_t kHeadBytes = offsetof(Packet, message);
constexpr std::byte kTransportReady{1};  // first byte of five
constexpr std::uint32_t kTransportReadyBytes = 5;

Library g_real;
decltype(ibv_context_ops::post_send) g_real_post_send = nullptr;
std::atomic<int> g_emptied = 0;

int post_send(ibv_qp* pair, ibv_send_wr* request, ibv_send_wr** bad) {
  if (pair->qp_type != IBV_QPT_UD) return g_real_post_send(pair, request, bad);
  auto* const packet = reinterpret_cast<Packet*>(request->sg_list->addr);
  via::ControlHead head;
  std::memcpy(&head, packet->message, sizeof head);
  constexpr auto kReady = static_cast<std::uint16_t>(via::ControlMessage::Kind::ready);
  if ((packet->bytes == kTransportReadyBytes && packet->message[0] == kTransportReady) ||
      (packet->bytes == sizeof head && head.kind == kReady)) {
    packet->bytes = 0;
    request->sg_list->length = kHeadBytes;
    ++g_emptied;
  }
  return g_real_post_send(pair, request, bad);
}

ibv_context* open_device(ibv_device* device) {
  ibv_context* context = g_real.open_device(device);
  if (context == nullptr) return nullptr;
  g_real_post_send = context->ops.post_send;
  context->ops.post_send = post_send;
  return context;
}

void ready(Job& job) {
  auto& library = const_cast<Library&>(via::verbs::library());
  g_real = library;
  library.open_device = open_device;
  {
    const auto nic = via::open_nic(job, "verbs");
    Link link(job, *nic, via::Reliability::delivery, false);
    expect(g_emptied > 0, "there was a control message that said nothing");
    link.expect_message("a VI whose peer does not say that it takes packets sends all the same");
    job.bootstrap().fence();
  }
  g_emptied = 0;
  Talk talk(job);
  talk.expect_answers("so do those who send Active Messages");
  expect(g_emptied > 0, "there was one again");
}

int body(Job& job, int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (job.size() != 2) return 2;
  if (what == "messages" && argc == 4)
    messages(job, argv[2], argv[3]);
  else if (what == "vis" && argc == 4)
    vis(job, argv[2], argv[3]);
  else if (what == "parted" && argc == 4)
    parted(job, argv[2], argv[3]);
  else if (what == "ready" && argc == 2)
    ready(job);
  else if (what == "ended" && argc == 2)
    ended(job);
  else
    return 2;
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
