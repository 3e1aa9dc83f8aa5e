/// @file
/// What comes to a rank that no healthy device and no peer sends, over verbs, two ranks; nothing
/// may be lost or hang:
///
///   injected events    a device tells rank 1 of errors (ibv_get_async_event); those who meet
///                      afterwards talk
///   injected garbage   rank 1 sends other bytes to rank 0's queue pair of control messages, while
///                      both meet again and again; some of it is too long, which breaks that queue
///                      pair: it is started again, and not too early

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/verbs-vm/talk.hpp"
#include "via/verbs/src/library.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/via/nic.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::faults;
using via::verbs::Library;

// Between this program and libibverbs.
Library g_real;
std::mutex g_mutex;
int g_device_fd = -1;  // of its events
const int g_injected_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE | EFD_NONBLOCK);
std::deque<ibv_async_event> g_events;
bool g_last_was_injected = false;  // the thread of events' own
std::vector<ibv_qp*> g_pairs;      // of reliable connections, the newest last
ibv_cq* g_newest_queue = nullptr;
ibv_pd* g_control_domain = nullptr;
ibv_ah_attr g_control_route{};
std::atomic<std::uint32_t> g_control_pair{0};  // the last that was written to, from any thread
std::atomic<std::uint32_t> g_control_key{0};
decltype(ibv_context_ops::post_send) g_real_post_send = nullptr;
decltype(ibv_context_ops::post_recv) g_real_post_receive = nullptr;
decltype(ibv_context_ops::poll_cq) g_real_poll_queue = nullptr;

// This rank's queue pair of control messages. The product uses it from one thread at a time.
ibv_qp* g_control = nullptr;
std::set<std::uint64_t> g_control_receives;  // that the device has not given back
std::uint64_t g_control_broken_ns = 0;       // the device told of the first error then
std::atomic<int> g_control_reset{0};

int post_send(ibv_qp* pair, ibv_send_wr* request, ibv_send_wr** bad) {
  if (pair->qp_type == IBV_QPT_UD) {
    g_control_pair = request->wr.ud.remote_qpn;
    g_control_key = request->wr.ud.remote_qkey;
  }
  return g_real_post_send(pair, request, bad);
}

int post_receive(ibv_qp* pair, ibv_recv_wr* request, ibv_recv_wr** bad) {
  const std::uint64_t number = request->wr_id;
  const int error = g_real_post_receive(pair, request, bad);
  if (pair == g_control && error == 0) g_control_receives.insert(number);
  return error;
}

int poll_queue(ibv_cq* queue, int most, ibv_wc* done) {
  const int n = g_real_poll_queue(queue, most, done);
  if (g_control == nullptr || queue != g_control->recv_cq) return n;
  for (int i = 0; i < n; ++i) {
    g_control_receives.erase(done[i].wr_id);
    if (done[i].status != IBV_WC_SUCCESS && g_control_broken_ns == 0)
      g_control_broken_ns = monotonic_ns();
  }
  return n;
}

/// The device may tell of an error before the queue pair is in the error state.
int modify_qp(ibv_qp* pair, ibv_qp_attr* attributes, int mask) {
  constexpr std::uint64_t kPatienceNs = 100'000'000;
  if (pair == g_control && (mask & IBV_QP_STATE) != 0 && attributes->qp_state == IBV_QPS_RESET) {
    expect(g_control_receives.empty() || monotonic_ns() - g_control_broken_ns >= kPatienceNs,
           "the device has given all receives back, or has had the time to");
    g_control_receives.clear();
    g_control_broken_ns = 0;
    ++g_control_reset;
  }
  return g_real.modify_qp(pair, attributes, mask);
}

ibv_context* open_device(ibv_device* device) {
  ibv_context* context = g_real.open_device(device);
  if (context == nullptr) return nullptr;
  g_device_fd = context->async_fd;
  g_real_post_send = std::exchange(context->ops.post_send, post_send);
  g_real_post_receive = std::exchange(context->ops.post_recv, post_receive);
  g_real_poll_queue = std::exchange(context->ops.poll_cq, poll_queue);
  return context;
}

int get_async_event(ibv_context* context, ibv_async_event* event) {
  std::uint64_t one = 0;
  if (::read(g_injected_fd, &one, sizeof one) != sizeof one)
    return g_real.get_async_event(context, event);
  const std::lock_guard lock(g_mutex);
  g_last_was_injected = true;
  *event = g_events.front();
  g_events.pop_front();
  return 0;
}

ibv_qp* create_qp(ibv_pd* domain, ibv_qp_init_attr* attributes) {
  ibv_qp* pair = g_real.create_qp(domain, attributes);
  if (attributes->qp_type == IBV_QPT_UD) {
    g_control = pair;
    g_control_receives.clear();
    g_control_domain = domain;
  } else if (pair != nullptr) {
    g_pairs.push_back(pair);
  }
  return pair;
}

void step_between() {
  auto& library = const_cast<Library&>(via::verbs::library());
  g_real = library;
  library.open_device = open_device;
  library.get_async_event = get_async_event;
  library.ack_async_event = [](ibv_async_event* event) {
    if (!std::exchange(g_last_was_injected, false)) g_real.ack_async_event(event);
  };
  library.create_qp = create_qp;
  library.modify_qp = modify_qp;
  library.destroy_qp = [](ibv_qp* pair) {
    std::erase(g_pairs, pair);
    if (pair == g_control) g_control = nullptr;
    return g_real.destroy_qp(pair);
  };
  library.create_cq = [](ibv_context* context, int size, void* data, ibv_comp_channel* channel,
                         int vector) {
    return g_newest_queue = g_real.create_cq(context, size, data, channel, vector);
  };
  library.create_ah = [](ibv_pd* domain, ibv_ah_attr* way) {
    g_control_route = *way;
    return g_real.create_ah(domain, way);
  };
}

void inject(ibv_async_event event) {
  {
    const std::lock_guard lock(g_mutex);
    g_events.push_back(event);
  }
  const std::uint64_t one = 1;
  expect(::write(g_injected_fd, &one, sizeof one) == sizeof one, "the event is there");
}
void inject_for_pair(ibv_event_type type) {
  ibv_async_event event{};
  event.event_type = type;
  expect(!g_pairs.empty(), "there is a connection");
  if (!g_pairs.empty()) event.element.qp = g_pairs.back();
  inject(event);
}
void inject_for_port(ibv_event_type type) {
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = 1;
  inject(event);
}

template <class Done>
bool comes(via::Nic& nic, Done&& done) {
  const std::uint64_t start = monotonic_ns();
  while (!done() && monotonic_ns() - start < kBoundNs) nic.progress();
  return done();
}

void events_of_vis(Job& job) {
  const bool first = index(job.rank()) == 0;
  const auto nic = via::open_nic(job, "verbs");
  std::vector<via::AsyncError> errors;
  nic->on_error([&](const via::AsyncError& error) { errors.push_back(error); });
  const auto told = [&](via::ErrorCause cause, const via::Vi* vi) {
    return comes(*nic, [&] {
      return std::any_of(errors.begin(), errors.end(),
                         [&](const via::AsyncError& e) { return e.cause == cause && e.vi == vi; });
    });
  };
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  for (const auto& [type, cause] :
       {std::pair{IBV_EVENT_QP_FATAL, via::ErrorCause::transport},
        std::pair{IBV_EVENT_QP_REQ_ERR, via::ErrorCause::transport},
        std::pair{IBV_EVENT_QP_ACCESS_ERR, via::ErrorCause::protection}}) {
    const auto vi = nic->create_vi(attributes);
    expect(vi->connect_peer_start(Rank{1 - index(job.rank())}, 1) == Status::ok &&
               vi->connect_peer_wait(kBoundNs) == via::ConnectResult::connected,
           "both are connected");
    job.bootstrap().fence();
    errors.clear();
    if (!first) inject_for_pair(type);
    expect(told(cause, vi.get()), "each NIC tells of the queue pair's error");
    expect(vi->state() == via::ViState::error && errors.size() == 1, "which breaks the connection");
    job.bootstrap().fence();
  }
  errors.clear();
  if (!first) {
    inject_for_port(IBV_EVENT_PORT_ERR);
    expect(told(via::ErrorCause::transport, nullptr), "the NIC tells of its port");
    inject_for_port(IBV_EVENT_PORT_ACTIVE);
  }
  const auto queue = nic->create_completion_queue(1024);
  attributes.send_queue = attributes.receive_queue = queue.get();
  const auto vi = nic->create_vi(attributes);  // the device's queue is there for it
  expect(vi->connect_peer_start(Rank{1 - index(job.rank())}, 2) == Status::ok &&
             vi->connect_peer_wait(kBoundNs) == via::ConnectResult::connected,
         "both are connected");
  job.bootstrap().fence();
  if (!first) {
    ibv_async_event event{};
    event.event_type = IBV_EVENT_CQ_ERR;
    event.element.cq = g_newest_queue;
    inject(event);
    expect(told(via::ErrorCause::queue_overrun, nullptr), "and of a completion queue's error");
    const auto of_queue = [&](const via::AsyncError& e) { return e.queue == queue.get(); };
    expect(std::any_of(errors.begin(), errors.end(), of_queue), "and of which");
  }
  expect(told(via::ErrorCause::transport, vi.get()) && vi->state() == via::ViState::error,
         "a connection that uses it fails");
  job.bootstrap().fence();
}

void events(Job& job) {
  events_of_vis(job);
  Talk talk(job);
  talk.expect_answers("they talk at first");
  for (const ibv_event_type type :
       {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_DEVICE_FATAL,
        IBV_EVENT_SRQ_ERR}) {
    talk.fence();
    if (!talk.first()) inject_for_pair(type);
    talk.expect_loss("each learns that the connection has failed");
    talk.fence();
    talk.expect_answers("those who meet after that talk");
  }
  // These change nothing.
  const auto& ports_down = job.record(Rank{1}).ports_down;
  for (const ibv_event_type type : {IBV_EVENT_SRQ_LIMIT_REACHED, IBV_EVENT_PORT_ERR,
                                    IBV_EVENT_PORT_ACTIVE, IBV_EVENT_LID_CHANGE}) {
    talk.fence();
    if (!talk.first()) inject_for_port(type);
    const bool down = type == IBV_EVENT_PORT_ERR;
    const std::uint64_t start = monotonic_ns();
    while ((ports_down.load() != 0) != down && monotonic_ns() - start < kBoundNs) {
    }
    expect((ports_down.load() != 0) == down, "both know of the port");
    talk.fence();
    g_replies = g_handled = 0;
    talk.expect_answers_now("they talk as before");
  }
}

/// Sends to the other rank's queue pair of control messages what is no control message.
class GarbageSender {
 public:
  explicit GarbageSender(std::uint64_t seed) : random_(seed) {
    ibv_pd* const domain = g_control_domain;
    queue_ = g_real.create_cq(domain->context, kDepth, nullptr, nullptr, 0);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = queue_;
    wanted.cap = {kDepth, 1, 1, 1, 0};
    wanted.qp_type = IBV_QPT_UD;
    wanted.sq_sig_all = 1;
    pair_ = g_real.create_qp(domain, &wanted);
    address_handle_ = g_real.create_ah(domain, &g_control_route);
    region_ = g_real.reg_mr(domain, buffer_.data(), sizeof buffer_, IBV_ACCESS_LOCAL_WRITE);
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = 1;
    attributes.qkey = 1;
    bool good = queue_ != nullptr && pair_ != nullptr && address_handle_ != nullptr &&
                region_ != nullptr &&
                g_real.modify_qp(pair_, &attributes,
                                 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0;
    attributes.qp_state = IBV_QPS_RTR;
    good = good && g_real.modify_qp(pair_, &attributes, IBV_QP_STATE) == 0;
    attributes.qp_state = IBV_QPS_RTS;
    good = good && g_real.modify_qp(pair_, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0;
    expect(good, "another queue pair for datagrams");
  }
  ~GarbageSender() {
    g_real.destroy_qp(pair_);
    g_real.destroy_cq(queue_);
    g_real.destroy_ah(address_handle_);
    g_real.dereg_mr(region_);
  }
  GarbageSender(const GarbageSender&) = delete;
  GarbageSender& operator=(const GarbageSender&) = delete;

  void send_one() {
    for (std::byte& b : buffer_) b = static_cast<std::byte>(random_());
    // The head of a control message: key, sender, number, acknowledged, bytes, oldest.
    constexpr std::uint32_t kHead = 24;
    std::array<std::uint32_t, 6> head{};
    std::memcpy(head.data(), buffer_.data(), kHead);
    const std::array<std::uint32_t, 6> any = head;
    for (const unsigned i : {2U, 3U, 5U}) head[i] %= 64;  // numbers that control messages here have
    std::uint32_t length = kHead + static_cast<std::uint32_t>(random_() % 316);
    head[0] = g_control_key;
    head[1] = 1;
    head[4] = length - kHead;
    switch (random_() % 6) {
      case 0:  // nothing is right
        head = any;
        break;
      case 1:  // all but the key is
        head[0] = any[0];
        break;
      case 2:  // there is no such rank
        head[1] = std::max(any[1], 2U);
        break;
      case 3:  // from the receiver itself
        head[1] = 0;
        break;
      case 4:  // another length than it says
        head[4] = any[4] != head[4] ? any[4] : 0;
        break;
      default:  // longer than any control message
        length = 400 + static_cast<std::uint32_t>(random_() % 600);
        head[4] = length - kHead;
        break;
    }
    std::memcpy(buffer_.data(), head.data(), kHead);
    ibv_sge segment{reinterpret_cast<std::uint64_t>(buffer_.data()), length, region_->lkey};
    ibv_send_wr request{};
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SOLICITED;
    request.wr.ud.ah = address_handle_;
    request.wr.ud.remote_qpn = g_control_pair;
    request.wr.ud.remote_qkey = g_control_key;
    ibv_send_wr* bad = nullptr;
    expect(g_real_post_send(pair_, &request, &bad) == 0, "it is posted");
    ibv_wc done{};
    const std::uint64_t start = monotonic_ns();
    while (ibv_poll_cq(queue_, 1, &done) == 0 && monotonic_ns() - start < kBoundNs) {
    }
    expect(done.status == IBV_WC_SUCCESS, "it is sent");
  }

 private:
  static constexpr std::uint32_t kDepth = 16;
  std::mt19937_64 random_;
  std::array<std::byte, 1024> buffer_{};
  ibv_cq* queue_ = nullptr;
  ibv_qp* pair_ = nullptr;
  ibv_ah* address_handle_ = nullptr;
  ibv_mr* region_ = nullptr;
};

void garbage(Job& job) {
  const std::uint64_t seed = std::random_device{}();
  Talk talk(job);
  talk.expect_answers("they talk at first");
  GarbageSender sender(seed);
  if (!talk.first()) std::printf("seed %lu\n", static_cast<unsigned long>(seed));
  for (int round = 0; round < 20; ++round) {
    talk.renew();
    for (int i = 0; !talk.first() && i < 100; ++i) {
      sender.send_one();
      if (i % 10 == 0) talk.bundle().poll();
    }
    talk.expect_answers_now("those who meet meanwhile talk");
  }
  expect(!talk.first() || g_control_reset.load() > 0, "its queue pair has been in error");
}

int body(Job& job, int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (job.size() != 2) return 2;
  step_between();
  if (what == "events")
    events(job);
  else if (what == "garbage")
    garbage(job);
  else
    return 2;
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

}  // namespace

/// Who waits for events of the device waits for injected ones, too.
extern "C" int poll(pollfd* fds, nfds_t count, int timeout) {
  std::vector<pollfd> all(fds, fds + count);
  all.push_back({g_injected_fd, POLLIN, 0});
  const auto device =
      std::find_if(fds, fds + count, [](const pollfd& p) { return p.fd == g_device_fd; });
  const bool both = device != fds + count;
  const timespec limit{timeout / 1000, timeout % 1000 * 1'000'000L};
  const long found = syscall(SYS_ppoll, all.data(), count + (both ? 1 : 0),
                             timeout < 0 ? nullptr : &limit, nullptr, 0);
  for (std::size_t i = 0; i < count; ++i) fds[i].revents = all[i].revents;
  if (both && all.back().revents != 0) device->revents |= POLLIN;
  return static_cast<int>(found);
}

int main(int argc, char** argv) { return run(body, argc, argv); }
