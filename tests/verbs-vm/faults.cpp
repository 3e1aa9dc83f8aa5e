/// @file
/// Faults that devices show seldom, over verbs, two ranks; nothing may be lost or hang, and when a
/// fault is over, those who meet anew talk:
///
///   faults control        the queue pair of control messages fails, on either side and on both; at
///                         last its device refuses to start it again, for a while
///   faults attach         one side cannot take up the other's queue pair
///   faults wire CUT HEAL  reliable connections bring nothing any more, control messages arrive:
///                         commands that do this and undo it
///   faults answers CUT HEAL   acknowledgements are lost, then an end breaks the connection, or
///   ends
///                         it; the other end knows all the same what has arrived
///   faults silence CUT HEAL   nothing arrives any more, though all ports are up, and they have
///                         never met; but a rank that computes is waited for
///   faults computing CUT HEAL   a control message is lost, and its sender computes for longer than
///                         a peer may be silent: nobody is out of reach
///   faults burst          six ranks: many control messages in a row, and to one rank, each once
///   faults port DOWN UP   rank 1's port is down, rank 0's is not, and they have never met
///   faults transfers      a link fails while it gets, or in the middle of a get
///   faults port_before DOWN UP   rank 1's port is down when its device is opened
///   faults device DIE     rank 0's device fails while rank 0 moves blocks, and completes nothing
///   more
///   faults vis DIE        rank 0's device fails under VIs that wait

#include <sched.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/verbs-vm/talk.hpp"
#include "via/verbs/provider.hpp"
#include "via/verbs/src/library.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/via/descriptor.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/transport.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::faults;
using via::ConnectResult;
using via::verbs::Library;

// Between this program and libibverbs.
Library g_real;
std::vector<ibv_qp*> g_control_pairs;
int g_refuse_resets = 0;
bool g_refuse_peers = false;
int g_resets = 0;
int g_refused = 0;
int g_ended = 0;

ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* attributes) {
  ibv_qp* pair = g_real.create_qp(domain, attributes);
  if (pair != nullptr && attributes->qp_type == IBV_QPT_UD) g_control_pairs.push_back(pair);
  return pair;
}

int modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) {
  const bool reset = attributes->qp_state == IBV_QPS_RESET;
  const bool peer = pair->qp_type == IBV_QPT_RC && attributes->qp_state == IBV_QPS_RTR;
  if (attributes->qp_state == IBV_QPS_ERR) ++g_ended;
  if ((reset && g_refuse_resets > 0) || (peer && g_refuse_peers)) {
    if (reset) --g_refuse_resets;
    ++g_refused;
    return EAGAIN;
  }
  if (reset) ++g_resets;
  return g_real.modify_qp(pair, attributes, mask);
}

int g_posts_left = -1;  // before the device takes no more; negative: it takes all
decltype(ibv_context_ops::post_send) g_real_post_send = nullptr;

int post_send(ibv_qp* pair, ibv_send_wr* request, ibv_send_wr** bad) {
  if (pair->qp_type == IBV_QPT_RC && g_posts_left == 0) return ENOMEM;
  if (pair->qp_type == IBV_QPT_RC && g_posts_left > 0) --g_posts_left;
  return g_real_post_send(pair, request, bad);
}

ibv_context* open_device(ibv_device* device) {
  ibv_context* const context = g_real.open_device(device);
  if (context != nullptr) g_real_post_send = std::exchange(context->ops.post_send, post_send);
  return context;
}

/// As Soft-RoCE, for which a transfer goes in requests of 32 KiB.
int query_device(ibv_context* context, ibv_device_attr* out) {
  const int error = g_real.query_device(context, out);
  out->vendor_id = 0xffffff;
  return error;
}

void step_between() {
  auto& library = const_cast<Library&>(via::verbs::library());
  g_real = library;
  library.create_qp = create_qp;
  library.modify_qp = modify_qp;
}

const char* g_cut = nullptr;
void on_last_request(am::Token& token) {
  expect(std::system(g_cut) == 0, "the connection is cut");
  token.reply<on_reply>();
}

void break_control() {
  expect(!g_control_pairs.empty(), "there is a queue pair for control messages");
  for (ibv_qp* pair : g_control_pairs) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    expect(g_real.modify_qp(pair, &attributes, IBV_QP_STATE) == 0, "it fails");
  }
}

void control(Job& job) {
  Talk talk(job);
  talk.expect_answers("they talk at first");
  for (int round = 0; round < 4; ++round) {
    talk.fence();
    const bool mine = round >= 2 || (round == 0) == talk.first();
    const int resets = g_resets;
    const int refused = g_refused;
    if (round == 3) g_refuse_resets = 3;
    if (mine) break_control();
    talk.expect_answers("those who meet after that talk");
    expect(g_resets == resets + (mine ? 1 : 0), "the queue pair was started again, once");
    expect(g_refused == refused + (round == 3 ? 3 : 0), "as often as was refused, it was tried");
  }
}

/// Both forms of connecting, of VIs.
void attach_vis(Job& job) {
  const bool first = index(job.rank()) == 0;
  const Rank other{1 - index(job.rank())};
  const auto nic = via::open_nic(job, "verbs");
  int lost = 0;
  nic->on_error([&](const via::AsyncError& error) {
    if (error.cause == via::ErrorCause::connection_lost) ++lost;
  });
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  {
    const auto vi = nic->create_vi(attributes);
    const auto meet = [&](std::uint64_t discriminator, bool works) {
      if (first) {
        const ConnectResult result = vi->connect(other, discriminator, kBoundNs);
        expect(result == (works ? ConnectResult::connected : ConnectResult::unreachable),
               "connect() is told whether it works");
        return;
      }
      via::ConnectionRequest request;
      expect(nic->listen(discriminator, request, kBoundNs) == Status::ok, "a request has come");
      g_refuse_peers = !works;
      const Status status = nic->accept(request, *vi);
      g_refuse_peers = false;
      expect(status == (works ? Status::ok : Status::peer_lost), "accept() says whether it works");
    };
    const auto meet_as_peers = [&](std::uint64_t discriminator, bool works) {
      g_refuse_peers = !works && !first;
      expect(vi->connect_peer_start(other, discriminator) == Status::ok, "started");
      const ConnectResult result = vi->connect_peer_wait(kBoundNs);
      g_refuse_peers = false;
      if (works) return expect(result == ConnectResult::connected, "peers connect");
      if (!first) return expect(result == ConnectResult::unreachable, "who cannot, knows");
      const std::uint64_t start = monotonic_ns();  // connected, it seemed
      while (vi->state() == via::ViState::connected && monotonic_ns() - start < kBoundNs)
        nic->progress();
      expect(result == ConnectResult::unreachable || lost == 1, "the other is told");
      vi->disconnect();
    };
    job.bootstrap().fence();
    meet(1, false);
    job.bootstrap().fence();
    meet(2, true);
    job.bootstrap().fence();
    vi->disconnect();
    job.bootstrap().fence();
    meet_as_peers(3, false);
    job.bootstrap().fence();
    meet_as_peers(4, true);
    job.bootstrap().fence();
    vi->disconnect();
  }
  job.bootstrap().fence();
  if (!first) expect(g_refused == 2, "both attempts were refused by the device");
}

void attach(Job& job) {
  attach_vis(job);
  Talk talk(job);
  g_refused = 0;
  for (const bool works : {true, false, true}) {
    talk.fence();
    if (works) {
      talk.expect_answers("those who meet talk, before and afterwards");
      continue;
    }
    talk.renew();
    am::Endpoint& refused = talk.keep();
    talk.renew();  // before, so that the next connection lies where the refused one lay
    g_refuse_peers = !talk.first();
    talk.expect_loss(refused, "each learns that the other cannot be reached");
    refused.set_undeliverable_handler([](const am::Returned&) {});
    talk.fence();
    g_refuse_peers = false;
    g_replies = g_back = g_handled = 0;
    talk.expect_answers_now("other endpoints talk");
  }
  if (!talk.first()) expect(g_refused == 1, "the attempt was refused by the device");
}

void wire(Job& job, const char* cut, const char* heal) {
  g_cut = cut;
  Talk talk(job);
  // Rank 0 cannot answer any more.
  talk.expect_answers("they talk at first");
  if (!talk.first()) {
    expect(talk.endpoint().request<on_last_request>(talk.other()) == Status::ok, "taken");
    expect(talk.bundle().wait_until([] { return g_back != 0; }, kBoundNs) == Status::ok,
           "a request whose answer is lost comes back");
  } else {
    talk.expect_loss("who answers learns that nothing arrives");
  }
  talk.fence();
  if (talk.first()) expect(std::system(heal) == 0, "the connection is healed");
  talk.fence();
  // Rank 1 has nothing under way, so that only a control message can tell it.
  talk.expect_answers("those who meet after that talk");
  talk.fence();
  if (talk.first()) {
    expect(std::system(cut) == 0, "the connection is cut");
    talk.expect_loss("who sends learns that nothing arrives");
  }
  talk.fence();
  if (!talk.first()) {
    talk.await_loss(true);
    expect(talk.endpoint().try_request<on_request>(talk.other()) == Status::peer_lost,
           "it has been told: it sends nothing");
  }
  talk.fence();
  if (talk.first()) expect(std::system(heal) == 0, "the connection is healed");
  talk.fence();
  talk.expect_answers("those who meet after that talk");
}

/// What rank 0 does with the messages 0 and 1 behind it.
enum class End : std::uint8_t { too_long, bad_receive, disconnect };

struct Window {
  std::uint64_t address;
  via::MemoryHandle handle;
};

/// Rank 1 sends, rank 0 gets all of it, and its acknowledgements are lost.
void answers(Job& job, via::Nic& nic, via::Reliability reliability, End end, bool reads,
             const char* cut, const char* heal) {
  namespace status = via::descriptor_status;
  constexpr std::uint32_t kBytes = 100;
  constexpr std::size_t kRequests = 6;
  std::printf("reliability %d, end %d, reads %d\n", static_cast<int>(reliability),
              static_cast<int>(end), reads ? 1 : 0);
  const bool first = index(job.rank()) == 0;
  via::ErrorCause cause = via::ErrorCause::none;
  nic.on_error([&](const via::AsyncError& error) { cause = error.cause; });
  via::ViAttributes attributes;
  attributes.tag = nic.create_tag();
  attributes.reliability = reliability;
  std::byte* const memory = nic.allocate(4096);
  {
    const via::MemoryRegion region =
        nic.register_memory(attributes.tag, memory, 4096, via::Rights::all);
    std::memset(memory, first ? 0 : 7, 4096);
    const Window mine{reinterpret_cast<std::uint64_t>(memory), region.handle()};
    job.bootstrap().put("memory", std::as_bytes(std::span(&mine, 1)));
    job.bootstrap().fence();
    Window theirs;
    std::memcpy(static_cast<void*>(&theirs),
                job.bootstrap().get(Rank{1 - index(job.rank())}, "memory").data(), sizeof theirs);
    std::array<via::Descriptor, kRequests> d{};
    const auto vi = nic.create_vi(attributes);
    if (first) {
      for (std::uint32_t i = 0; i < 3; ++i)
        via::make_receive(
            d[i], memory + i * kBytes, i == 2 && end == End::too_long ? kBytes / 2 : kBytes,
            i == 2 && end == End::bad_receive ? via::MemoryHandle::none : region.handle());
      for (std::uint32_t i = 0; i < (end == End::disconnect ? 2 : 3); ++i)
        expect(vi->post_receive(d[i]) == Status::ok, "a receive is posted");
      via::ConnectionRequest request;
      expect(
          nic.listen(1, request, kBoundNs) == Status::ok && nic.accept(request, *vi) == Status::ok,
          "connected");
    } else {
      expect(vi->connect(Rank{0}, 1, kBoundNs) == ConnectResult::connected, "connected");
    }
    job.bootstrap().fence();
    if (first) expect(std::system(cut) == 0, "acknowledgements are lost");
    job.bootstrap().fence();
    const auto taken = [&](std::size_t i, std::uint32_t bits, const char* what) {
      via::Descriptor* done = nullptr;
      const Status got =
          first ? vi->receive_wait(done, 3 * kBoundNs / 4) : vi->send_wait(done, 3 * kBoundNs / 4);
      expect(
          got == Status::ok && done == &d[i] && (done->control.status & status::error_mask) == bits,
          what);
    };
    if (first) {
      taken(0, 0, "the first message has come");
      taken(1, 0, "the second message has come");
      expect(
          memory[kBytes] == std::byte{7} && memory[1000] == (reads ? std::byte{0} : std::byte{7}),
          "and what was before it");
      if (end == End::too_long) taken(2, status::length_error, "the third is too long");
      if (end == End::bad_receive) taken(2, status::protection_error, "the third is not received");
      if (end == End::disconnect) vi->disconnect();
    } else {
      via::make_send(d[0], memory, kBytes, region.handle());
      if (reads)
        via::make_rdma_read(d[1], memory + 1000, 8, region.handle(), theirs.address, theirs.handle);
      else
        via::make_rdma_write(d[1], memory, 8, region.handle(), theirs.address + 1000,
                             theirs.handle);
      via::make_send(d[2], memory, kBytes, region.handle());
      via::make_rdma_write(d[3], memory, 8, region.handle(), theirs.address + 2000, theirs.handle);
      via::make_send(d[4], memory, kBytes, region.handle());
      via::make_send(d[5], memory, kBytes, region.handle());
      const std::size_t posted = end == End::disconnect ? 3 : kRequests;
      for (std::size_t i = 0; i < posted; ++i)
        expect(vi->post_send(d[i]) == Status::ok, "a request is posted");
      taken(0, 0, "the first message has arrived");
      taken(1, reads ? status::flushed : 0, "reads need their answers, writes have been done");
      taken(2, reads ? status::flushed : 0, "completions are in order: none behind a lost one");
      if (posted > 3) {
        taken(3, reads ? status::flushed : 0, "the write before it");
        taken(4, reads ? status::flushed : status::remote_descriptor_error, "the refused one");
        taken(5, status::flushed, "nothing behind it");
      }
    }
    const bool broken = end != End::disconnect;
    expect(vi->state() == (broken || (!first && reads) ? via::ViState::error : via::ViState::idle),
           "both know how it ended");
    if (broken)
      expect(
          cause == (end == End::too_long ? via::ErrorCause::length : via::ErrorCause::protection),
          "and why");
    job.bootstrap().fence();
    if (first) expect(std::system(heal) == 0, "acknowledgements arrive again");
    job.bootstrap().fence();
  }
  nic.release(memory);
  nic.destroy_tag(attributes.tag);
  nic.on_error(nullptr);
}

void answers(Job& job, const char* cut, const char* heal) {
  const auto nic = via::open_nic(job, "verbs");
  for (const auto reliability : {via::Reliability::delivery, via::Reliability::reception})
    for (const End end : {End::too_long, End::bad_receive, End::disconnect})
      for (const bool reads : {false, true}) answers(job, *nic, reliability, end, reads, cut, heal);
}

/// Rank 1 has had rank 0's control message and does not answer it; then nothing arrives any more.
void silence_of_vis(Job& job, const char* cut, const char* heal) {
  constexpr std::uint64_t kForControlNs = 1'000'000'000;
  const bool first = index(job.rank()) == 0;
  const auto nic = via::open_nic(job, "verbs");
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  const auto vi = nic->create_vi(attributes);
  if (first) expect(vi->connect_peer_start(Rank{1}, 1) == Status::ok, "started");
  for (const std::uint64_t start = monotonic_ns(); monotonic_ns() - start < kForControlNs;)
    nic->progress();
  job.bootstrap().fence();
  if (first) {
    expect(vi->connect_peer_done() == Status::retry, "nothing is known yet");
    expect(std::system(cut) == 0, "nothing arrives any more");
    expect(vi->connect_peer_wait(kBoundNs) == ConnectResult::unreachable, "it is out of reach");
    expect(std::system(heal) == 0, "the network is healed");
  }
  job.bootstrap().fence();
}

/// With VIADUCT_VERBS_SILENCE=2s.
void silence(Job& job, const char* cut, const char* heal) {
  silence_of_vis(job, cut, heal);
  constexpr std::uint64_t kLong = 4'000'000'000;
  Talk talk(job);
  talk.renew();
  talk.fence();
  const std::uint64_t start = monotonic_ns();
  if (talk.first()) {
    expect(talk.endpoint().request<on_request>(talk.other()) == Status::ok, "it is waited for");
    expect(talk.bundle().wait_until([] { return g_replies == 1; }, kBoundNs) == Status::ok &&
               g_back == 0,
           "and answers when it is ready");
    expect(monotonic_ns() - start > kLong / 2, "it was not before");
  } else {
    while (monotonic_ns() - start < kLong) {
    }
    talk.bundle().poll();
  }
  expect(talk.bundle().barrier() == Status::ok, "both have talked");
  talk.renew();
  if (talk.first()) expect(std::system(cut) == 0, "nothing arrives any more");
  talk.fence();
  const std::uint64_t since = monotonic_ns();
  talk.expect_loss("the other cannot be reached");
  std::printf("silent, lost after %lu ms\n",
              static_cast<unsigned long>((monotonic_ns() - since) / 1'000'000));
  talk.fence();
  if (talk.first()) expect(std::system(heal) == 0, "the network is healed");
  talk.fence();
  talk.expect_answers("those who meet after that talk");
}

/// With VIADUCT_VERBS_SILENCE=1s.
void computing(Job& job, const char* cut, const char* heal) {
  constexpr auto kLongerUs = 1'300'000;
  const bool first = index(job.rank()) == 0;
  const auto nic = via::open_nic(job, "verbs");
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  const auto vi = nic->create_vi(attributes);
  job.bootstrap().fence();
  if (first) {
    expect(std::system(cut) == 0, "a control message is lost");
    expect(vi->connect_peer_start(Rank{1}, 1) == Status::ok, "started");
    nic->progress();
    expect(std::system(heal) == 0, "the network is healed");
    usleep(kLongerUs);
  } else {
    usleep(kLongerUs + kLongerUs / 4);  // rank 0 has looked since
    expect(vi->connect_peer_start(Rank{0}, 1) == Status::ok, "started");
  }
  expect(vi->connect_peer_wait(kBoundNs) == ConnectResult::connected,
         "the time in which a rank repeated nothing is not the peer's silence");
  job.bootstrap().fence();
}

/// Rank 0 asks for as many connections with each peer as it has to, and then looks once for each
/// window. What it does not send by then is never sent. @p each: requests to one peer.
void burst(Job& job, std::uint32_t peers, std::uint32_t each, std::uint32_t looks) {
  const bool first = index(job.rank()) == 0;
  const bool meets = index(job.rank()) <= peers;
  const auto nic = via::open_nic(job, "verbs");
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  attributes.send_depth = attributes.receive_depth = 1;
  std::uint32_t come = 0;
  nic->on_incoming_peer([&](Rank, std::uint64_t) { ++come; });
  std::vector<std::unique_ptr<via::Vi>> vis;
  job.bootstrap().fence();
  for (std::uint32_t i = 0; first && i < peers * each; ++i) {
    vis.push_back(nic->create_vi(attributes));
    expect(vis.back()->connect_peer_start(Rank{1 + i % peers}, i) == Status::ok, "started");
  }
  for (std::uint32_t look = 0;; ++look) {
    const std::uint32_t wanted = std::min(each, (look + 1) * 16);  // the window
    for (const std::uint64_t start = monotonic_ns();
         !first && meets && come < wanted && monotonic_ns() - start < kBoundNs / 20;)
      nic->progress();
    if (!first && meets) expect(come == wanted, "all that the window lets through have come");
    job.bootstrap().fence();
    if (look == looks) break;
    if (first) {
      usleep(200'000);  // for one acknowledgement
      nic->progress();
    }
    job.bootstrap().fence();
  }
  vis.clear();
  job.bootstrap().fence();
}

void burst(Job& job) {
  burst(job, 1, 48, 2);
  burst(job, 5, 16, 0);  // more than the queue pair has places for
}

/// Rank 0 has no way to find out but what rank 1's NIC tells the job, while rank 1 computes.
void port(Job& job, const char* down, const char* up) {
  Talk talk(job);
  const auto& theirs = job.record(Rank{1}).ports_down;
  talk.renew();
  talk.fence();
  if (talk.first()) {
    expect(theirs.load() == 0, "it is up at first");
    expect(std::system(down) == 0, "the port goes down");
    const std::uint64_t start = monotonic_ns();
    expect(talk.endpoint().request<on_request>(talk.other()) == Status::peer_lost || g_back != 0,
           "a first message does not wait for ever");
    std::printf("never met, lost after %lu ms\n",
                static_cast<unsigned long>((monotonic_ns() - start) / 1'000'000));
    expect(theirs.load() != 0, "its port is said to be down");
  }
  talk.fence();  // rank 1 has looked at nothing meanwhile
  talk.expect_loss("the other cannot be reached");
  talk.fence();
  if (talk.first()) {
    expect(std::system(up) == 0, "the port goes up");
    for (const std::uint64_t start = monotonic_ns(); monotonic_ns() - start < kBoundNs;)
      if (theirs.load() == 0) break;
    expect(theirs.load() == 0, "it is said to be up again");
  }
  talk.fence();
}

/// @p refused: by the device, in the middle of a get. Else the link fails behind a get that has
/// completed, and nobody has looked.
void transfer(Job& job, bool refused) {
  constexpr std::size_t kHalf = 4096;
  constexpr std::size_t kBytes = via::Link::kMostTransferBytes;
  const bool first = index(job.rank()) == 0;
  const Rank other{1 - index(job.rank())};
  const auto transport = via::verbs::open_transport(job, "");
  std::vector<std::byte> block(2 * kHalf);
  std::vector<std::byte> memory(kBytes, first ? std::byte{1} : std::byte{7});
  const auto link = transport->make_link(block.data(), kHalf, 16, nullptr);
  const std::uint32_t key = transport->register_memory(memory.data(), kBytes);
  job.bootstrap().put_value("link", link->name());
  job.bootstrap().put_value("memory", Window{reinterpret_cast<std::uint64_t>(memory.data()),
                                             static_cast<via::MemoryHandle>(key)});
  job.bootstrap().fence();
  link->connect(other, *job.bootstrap().get_value<via::Link::Name>(other, "link"));
  const Window theirs = *job.bootstrap().get_value<Window>(other, "memory");
  const auto their_key = static_cast<std::uint32_t>(theirs.handle);
  const std::uint64_t start = monotonic_ns();
  while (!(link->ready() && transport->all_delivered()) && monotonic_ns() - start < kBoundNs)
    transport->progress([](Rank, std::span<const std::byte>) {});
  std::vector<std::byte> own(kBytes, std::byte{1});
  if (first && refused) {
    const int before = g_ended;
    g_posts_left = 2;
    expect(link->get(own.data(), kBytes, theirs.address, their_key) == 0 && link->failed(),
           "it has not begun as a whole");
    g_posts_left = -1;
    expect(g_ended == before + 1, "what has begun is ended");
  } else if (first) {
    expect(link->get(own.data(), 64, theirs.address, their_key) != 0, "it is under way");
    usleep(100'000);
    link->fail();
    transport->arm();  // it looks at what has completed
    expect(own == std::vector(kBytes, std::byte{1}), "nothing comes by a failed link");
  }
  job.bootstrap().fence();
  transport->deregister(key);
}

void transfers(Job& job) {
  auto& library = const_cast<Library&>(via::verbs::library());
  library.open_device = open_device;
  library.query_device = query_device;
  for (const bool refused : {false, true}) transfer(job, refused);
}

/// A port that is named is taken though it is down.
void port_before(Job& job, const char* down, const char* up) {
  const bool first = index(job.rank()) == 0;
  const auto is_told = [&](bool wanted) {
    const auto& theirs = job.record(Rank{1}).ports_down;
    const std::uint64_t start = monotonic_ns();
    while ((theirs.load() != 0) != wanted && monotonic_ns() - start < kBoundNs / 6) sched_yield();
    return (theirs.load() != 0) == wanted;
  };
  if (first) expect(std::system(down) == 0, "the port goes down");
  job.bootstrap().fence();
  {
    const auto nic = via::open_nic(job, "verbs");
    expect(is_told(true), "all know of the port that was down before");
    job.bootstrap().fence();
    if (first) expect(std::system(up) == 0, "the port goes up");
    expect(is_told(false), "all know of that");
    job.bootstrap().fence();
    if (first) expect(std::system(down) == 0, "the port goes down");
    expect(is_told(true), "and of that");
    job.bootstrap().fence();
  }
  expect(is_told(false), "a NIC that ends has no port");
  job.bootstrap().fence();
}

volatile std::sig_atomic_t g_is_over = 0;
void on_block(am::Token&, std::span<std::byte>) {}

void device(Job& job, const char* die) {
  constexpr std::size_t kBlock = 4 << 20;
  std::signal(SIGUSR1, [](int) { g_is_over = 1; });
  Talk talk(job);
  talk.renew();
  const std::span<std::byte> segment = talk.endpoint().make_segment(kBlock);
  talk.fence();
  talk.expect_answers_now("they talk at first");
  talk.fence();
  if (!talk.first()) {
    while (g_is_over == 0) (void)talk.bundle().poll();
    return;
  }
  std::thread breaker([die] {
    usleep(20'000);
    expect(std::system(die) == 0, "the device dies");
  });
  Status status = Status::ok;
  for (bool get = false; status == Status::ok && g_back == 0; get = !get)
    status = get ? talk.endpoint().get<on_block>(talk.other(), segment, 0)
                 : talk.endpoint().request_bulk<on_block>(talk.other(), segment, 0);
  breaker.join();
  expect(status == Status::peer_lost || g_back != 0, "the other is lost with the device");
  kill(static_cast<pid_t>(job.record(Rank{1}).pid.load()), SIGUSR1);
}

/// One VI waits for its message, which rank 1 has no receive for, another one to be connected.
/// With VIADUCT_VERBS_RNR_RETRIES=7, that is for ever.
void vis(Job& job, const char* die) {
  const bool first = index(job.rank()) == 0;
  const Rank other{1 - index(job.rank())};
  const auto nic = via::open_nic(job, "verbs");
  int failed = 0;
  nic->on_error([&](const via::AsyncError& error) {
    if (error.cause == via::ErrorCause::transport && error.vi != nullptr) ++failed;
  });
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  const auto vi = nic->create_vi(attributes);
  const auto second =
      via::open_nic(job, "verbs");  // the first one has no control message under way
  via::ViAttributes others;
  others.tag = second->create_tag();
  const auto alone = second->create_vi(others);
  via::Descriptor receive{};
  via::Descriptor send{};
  via::make_receive(receive, nullptr, 0, via::MemoryHandle::none);
  via::make_send(send, nullptr, 0, via::MemoryHandle::none);
  if (first) expect(vi->post_receive(receive) == Status::ok, "a receive is posted");
  expect(vi->connect_peer_start(other, 1) == Status::ok &&
             vi->connect_peer_wait(kBoundNs) == ConnectResult::connected,
         "both are connected");
  job.bootstrap().fence();
  if (first) {
    expect(alone->connect_peer_start(other, 2) == Status::ok, "started");
    expect(vi->post_send(send) == Status::ok, "a send is posted");
    std::thread breaker([die] {
      usleep(20'000);
      expect(std::system(die) == 0, "the device dies");
    });
    via::Descriptor* done = nullptr;
    expect(vi->send_wait(done, kBoundNs / 4) == Status::ok && done == &send, "the send ends");
    expect((send.control.status & via::descriptor_status::error_mask) != 0, "with an error");
    breaker.join();
    expect(vi->receive_done(done) == Status::ok && done == &receive, "so does the receive");
    expect(vi->state() == via::ViState::error && failed == 1, "the VI has failed, as it is told");
    expect(alone->connect_peer_wait(kBoundNs / 4) == ConnectResult::unreachable,
           "the other one is not connected");
  }
  job.bootstrap().fence();
}

int body(Job& job, int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (job.size() != (what == "burst" ? 6U : 2U)) return 2;
  step_between();
  if (what == "control" && argc == 2)
    control(job);
  else if (what == "burst" && argc == 2)
    burst(job);
  else if (what == "attach" && argc == 2)
    attach(job);
  else if (what == "wire" && argc == 4)
    wire(job, argv[2], argv[3]);
  else if (what == "answers" && argc == 4)
    answers(job, argv[2], argv[3]);
  else if (what == "silence" && argc == 4)
    silence(job, argv[2], argv[3]);
  else if (what == "computing" && argc == 4)
    computing(job, argv[2], argv[3]);
  else if (what == "port" && argc == 4)
    port(job, argv[2], argv[3]);
  else if (what == "transfers" && argc == 2)
    transfers(job);
  else if (what == "port_before" && argc == 4)
    port_before(job, argv[2], argv[3]);
  else if (what == "device" && argc == 3)
    device(job, argv[2]);
  else if (what == "vis" && argc == 3)
    vis(job, argv[2]);
  else
    return 2;
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
