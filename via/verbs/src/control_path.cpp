/// Sending, repeating and acknowledging control messages; the queue pair's set-up and its new start
/// after an error. One mutex protects all of it: the rank's own thread and the thread of Events
/// both come here.

#include "via/verbs/src/control_path.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <new>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "via/verbs/src/errors.hpp"
#include "via/verbs/src/events.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"

namespace viaduct::via::verbs {

namespace {
constexpr std::uint64_t kFirstPatienceNs = 20'000'000;
constexpr std::uint64_t kMostPatienceNs = 320'000'000;
constexpr std::uint32_t kWindow = 16;  // control messages to one peer that wait for acknowledgement
constexpr std::size_t kMostSpare = kWindow;
constexpr std::uint32_t kSendMark = 1U << 16;

[[noreturn]] void throw_setup(const Device& device, int error, const char* what) {
  throw_refused(error,
                "RDMA device " + device.name() + ": cannot " + what + " for control messages");
}
}  // namespace

ControlPath::ControlPath(Job& job, Device& device, ibv_comp_channel* channel, Address& address)
    : job_(job),
      device_(device),
      buffer_(std::make_unique<std::byte[]>(std::size_t{kReceives + kSends} * kSlotBytes)) {
  key_ = std::random_device{}() & 0x7fffffff;  // the top bit is for privileged users
  domain_.reset(library().alloc_pd(device.context()));
  if (domain_ == nullptr) throw_setup(device, errno, "make a protection domain");
  region_.reset(library().reg_mr(domain_.get(), buffer_.get(),
                                 std::size_t{kReceives + kSends} * kSlotBytes,
                                 IBV_ACCESS_LOCAL_WRITE));
  if (region_ == nullptr)
    throw_registration(errno, "buffers of control messages",
                       std::size_t{kReceives + kSends} * kSlotBytes);
  queue_.reset(library().create_cq(device.context(), static_cast<int>(kReceives + kSends),
                                   Events::control_context(), channel, 0));
  if (queue_ == nullptr) throw_setup(device, errno, "make a completion queue");
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = queue_.get();
  wanted.cap.max_send_wr = kSends;
  wanted.cap.max_recv_wr = kReceives;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_UD;
  wanted.sq_sig_all = 1;
  pair_.reset(library().create_qp(domain_.get(), &wanted));
  if (pair_ == nullptr) throw_setup(device, errno, "make a queue pair");
  if (const int error = start(); error != 0) throw_setup(device, error, "start the queue pair");
  address.control_queue = pair_->qp_num;
  address.control_key = key_;
}

/// Takes the queue pair from RESET to RTS. Afterwards all receives are posted and all places for
/// sends are free. Answers the device's error, or 0.
int ControlPath::start() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = device_.port();
  attributes.qkey = key_;
  int error = library().modify_qp(pair_.get(), &attributes,
                                  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  receives_out_ = 0;
  for (std::uint32_t i = 0; i < kReceives && error == 0; ++i) post_receive(i);
  free_sends_.clear();
  for (std::uint32_t i = 0; i < kSends; ++i) free_sends_.push_back(kReceives + i);
  attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  if (error == 0) error = library().modify_qp(pair_.get(), &attributes, IBV_QP_STATE);
  attributes.qp_state = IBV_QPS_RTS;
  if (error == 0)
    error = library().modify_qp(pair_.get(), &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
  return error;
}

/// Starts the queue pair again after an error. Control messages that the error has lost are
/// repeated like any others. The restart waits until the device has returned all receives: a
/// device reports an error before the queue pair is in the error state, and a pair that is
/// restarted too early would enter that state, or lose its receives. After 100 ms the restart is
/// tried in any case, and again every 100 ms while the device refuses.
void ControlPath::restart() {
  constexpr std::uint64_t kPatienceNs = 100'000'000;
  const std::uint64_t now = monotonic_ns();
  if (restart_at_ns_ == 0) restart_at_ns_ = now + kPatienceNs;
  if ((receives_out_ != 0 || restart_refused_) && now < restart_at_ns_) return;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  int error = library().modify_qp(pair_.get(), &attributes, IBV_QP_STATE);
  if (error == 0) {
    ibv_wc gone;
    while (ibv_poll_cq(queue_.get(), 1, &gone) > 0) {
    }
    for (auto& [rank, p] : peers_)
      if (p.address_handle != nullptr)
        library().destroy_ah(std::exchange(p.address_handle, nullptr));
    error = start();
  }
  broken_ = error != 0;
  restart_at_ns_ = broken_ ? now + kPatienceNs : 0;
  if (std::exchange(restart_refused_, broken_) || !broken_) return;
  job_.log().write(
      LogLevel::error,
      "RDMA device " + device_.name() +
          " does not start the queue pair for control messages again after an error (" +
          std::generic_category().message(error) + "): no rank can be connected until it does");
}

ControlPath::~ControlPath() {
  pair_.reset();
  for (auto& [rank, peer] : peers_)
    if (peer.address_handle != nullptr) library().destroy_ah(peer.address_handle);
}

/// Makes the address handle of @p to, unless there is one. False: the device knows no route now;
/// the next packet to that rank asks again.
bool ControlPath::find_address_handle(Rank to, Peer& p) {
  if (p.address_handle != nullptr) return true;
  ibv_ah_attr route = device_.route_to(addresses_[index(to)]);
  p.address_handle = library().create_ah(domain_.get(), &route);
  if (p.address_handle != nullptr) return true;
  const int error = errno;
  if (p.told) return false;
  try {
    job_.log().write(LogLevel::error, "RDMA device " + device_.name() + " finds no way to rank " +
                                          std::to_string(index(to)) + " (" +
                                          std::generic_category().message(error) +
                                          "): are both in one network (VIADUCT_VERBS_DEVICE)?");
    p.told = true;
  } catch (const std::bad_alloc&) {  // the next attempt tells
  }
  return false;
}

/// Drops an address handle over which nothing has come back for 2 s: the route may have changed.
void ControlPath::renew_address_handle(Peer& p, std::uint64_t now) {
  constexpr std::uint64_t kEveryNs = 2'000'000'000;
  if (p.address_handle == nullptr || now - std::max(p.since_ns, p.renewed_ns) < kEveryNs) return;
  p.renewed_ns = now;
  library().destroy_ah(std::exchange(p.address_handle, nullptr));
}

void ControlPath::post_receive(std::uint32_t number) noexcept {
  ibv_sge segment{reinterpret_cast<std::uint64_t>(slot(number)), kSlotBytes, region_->lkey};
  ibv_recv_wr request{};
  request.wr_id = number;
  request.sg_list = &segment;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (ibv_post_recv(pair_.get(), &request, &bad) == 0) ++receives_out_;
}

void ControlPath::probe(Rank to) {
  constexpr std::uint64_t kEveryNs = 1'000'000'000;
  const std::lock_guard lock(mutex_);
  if (to == job_.rank()) return;
  const Peer& p = peers_[index(to)];
  if (p.waiting.empty() && monotonic_ns() - p.since_ns >= kEveryNs) send(to, {});
}

void ControlPath::reserve(std::size_t messages) {
  const std::lock_guard lock(mutex_);
  while (spare_.size() < messages) spare_.emplace_back();
}

/// Puts a control message at the end of @p list, in the memory of the first one of @p memory.
void ControlPath::put(Messages& list, Messages& memory, Rank from, std::uint32_t number,
                      std::span<const std::byte> bytes) noexcept {
  Message& message = memory.front();
  message.from = from;
  message.number = number;
  message.size = static_cast<std::uint32_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), message.data);
  list.splice(list.end(), memory, memory.begin());
}

/// The memory of the first one of @p list is for the next control message.
void ControlPath::drop_first(Messages& list) noexcept {
  if (spare_.size() < kMostSpare)
    spare_.splice(spare_.end(), list, list.begin());
  else
    list.pop_front();
}

void ControlPath::send(Rank to, std::span<const std::byte> message) {
  const std::lock_guard lock(mutex_);
  reserve(1);
  if (to == job_.rank()) return put(arrived_, spare_, to, 0, message);
  if (free_sends_.empty()) reap();  // many in a row
  Peer& p = peers_[index(to)];
  put(p.waiting, spare_, job_.rank(), p.last_sent + 1, message);
  ++p.last_sent;
  if (p.waiting.size() == 1) {
    p.since_ns = p.sent_ns = monotonic_ns();
    p.silent_since = attended_ns_;
    p.patience_ns = kFirstPatienceNs;
    p.cut_since = 0;
  }
  if (p.waiting.size() <= kWindow) transmit(to, p, &p.waiting.back());
}

/// Sends one packet with @p waiting, or, where that is null, with the acknowledgement alone.
/// Without a free place or a route nothing is sent; repeat() sends the control message when it is
/// overdue.
void ControlPath::transmit(Rank to, Peer& p, const Message* waiting) {
  if (free_sends_.empty() || !find_address_handle(to, p)) return;
  const std::uint32_t number = free_sends_.back();
  free_sends_.pop_back();
  const Address& address = addresses_[index(to)];
  Packet packet;
  packet.key = address.control_key;
  packet.from = index(job_.rank());
  packet.acknowledged = p.last_handled;
  packet.oldest = p.waiting.empty() ? p.last_sent + 1 : p.waiting.front().number;
  if (waiting != nullptr) {
    packet.number = waiting->number;
    packet.bytes = waiting->size;
    std::copy_n(waiting->data, waiting->size, packet.message);
  }
  const auto length = static_cast<std::uint32_t>(Packet::kHeadBytes + packet.bytes);
  std::memcpy(slot(number), &packet, length);
  p.owes_answer = p.last_handled != p.last_taken;
  p.owes_sign = false;
  ibv_sge segment{reinterpret_cast<std::uint64_t>(slot(number)), length, region_->lkey};
  ibv_send_wr request{};
  request.wr_id = kSendMark | number;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (waiting != nullptr) request.send_flags = IBV_SEND_SOLICITED;
  request.wr.ud.ah = p.address_handle;
  request.wr.ud.remote_qpn = address.control_queue;
  request.wr.ud.remote_qkey = address.control_key;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(pair_.get(), &request, &bad) != 0) free_sends_.push_back(number);
}

/// Sends the last @p count control messages of the window.
void ControlPath::send_next(Rank to, Peer& p, std::uint32_t count) {
  if (p.waiting.size() <= kWindow - count) return;
  auto next = std::next(p.waiting.begin(), kWindow - count);
  for (; count != 0 && next != p.waiting.end(); --count) transmit(to, p, &*next++);
}

/// A packet for which there is no memory is lost like one that the network loses: its sender
/// repeats it.
void ControlPath::take(const Packet& packet) {
  if (packet.key != key_ || packet.from >= addresses_.size() || Rank{packet.from} == job_.rank() ||
      job_.is_lost(Rank{packet.from}))
    return;
  Peer& p = peers_[packet.from];
  p.heard_ns = monotonic_ns();
  p.silent_since = attended_ns_;
  std::uint32_t moved = 0;
  while (!p.waiting.empty() &&
         static_cast<std::int32_t>(packet.acknowledged - p.waiting.front().number) >= 0) {
    drop_first(p.waiting);
    ++moved;
  }
  if (moved != 0) {
    p.since_ns = p.sent_ns = p.heard_ns;
    p.patience_ns = kFirstPatienceNs;
    send_next(Rank{packet.from}, p, std::min(moved, kWindow));
  }
  if (static_cast<std::int32_t>(packet.oldest - p.last_taken) > 1)
    p.last_handled = p.last_taken = packet.oldest - 1;
  if (packet.number == 0) return;
  p.owes_answer = p.owes_sign = true;
  if (packet.number != p.last_taken + 1) return;  // repeated, or one before it is missing
  Messages memory(1);  // none of spare_, which is for what this rank sends
  put(arrived_, memory, Rank{packet.from}, packet.number, {packet.message, packet.bytes});
  ++p.last_taken;
}

void ControlPath::reap() {
  std::array<ibv_wc, 16> done;
  int n = 0;
  while ((n = ibv_poll_cq(queue_.get(), static_cast<int>(done.size()), done.data())) > 0) {
    for (int i = 0; i < n; ++i) {
      const ibv_wc& wc = done[static_cast<std::size_t>(i)];
      const auto number = static_cast<std::uint32_t>(wc.wr_id);
      broken_ = broken_ || wc.status != IBV_WC_SUCCESS;
      if ((number & kSendMark) != 0) {
        free_sends_.push_back(number & ~kSendMark);
        continue;
      }
      --receives_out_;
      Packet packet;
      const std::uint32_t length = wc.byte_len - kHeaderBytes;
      if (wc.status == IBV_WC_SUCCESS && length >= Packet::kHeadBytes && length <= sizeof packet) {
        std::memcpy(static_cast<void*>(&packet), slot(number) + kHeaderBytes, length);
        try {
          if (packet.bytes == length - Packet::kHeadBytes) take(packet);
        } catch (const std::bad_alloc&) {
        }
      }
      if (!broken_) post_receive(number);
    }
  }
}

void ControlPath::answer_once() {
  reap();
  if (broken_) restart();
  bool stalled = false;
  for (auto& [rank, p] : peers_) {
    if (!p.owes_sign) continue;
    repeat(Rank{rank}, p, monotonic_ns(), stalled);
    if (p.owes_sign) transmit(Rank{rank}, p, nullptr);
  }
}

void ControlPath::answer() noexcept {
  const std::lock_guard lock(mutex_);
  for (int look = 0; look < 2; ++look) {  // once more, since something may have come meanwhile
    try {
      answer_once();
    } catch (const std::exception&) {  // no memory: the control messages are repeated
    }
    if (look == 0) (void)ibv_req_notify_cq(queue_.get(), 1);
  }
}

bool ControlPath::control_waiting() {
  const std::lock_guard lock(mutex_);
  reap();
  return !arrived_.empty();
}

/// Hands the first one over. What @p handler sends acknowledges it. The handler may make progress,
/// which hands over those that follow.
void ControlPath::hand_over(const Handler& handler) {
  Messages current;
  std::unique_lock lock(mutex_);
  current.splice(current.end(), arrived_, arrived_.begin());
  const Message& message = current.front();
  std::uint32_t of_self = 0;
  std::uint32_t& handled =
      message.from == job_.rank() ? of_self : peers_[index(message.from)].last_handled;
  const std::uint32_t before = handled;
  if (static_cast<std::int32_t>(message.number - handled) > 0) handled = message.number;
  lock.unlock();
  try {
    handler(message.from, message.bytes());
  } catch (...) {
    lock.lock();
    if (handled == message.number) handled = before;
    arrived_.splice(arrived_.begin(), current);
    throw;
  }
  lock.lock();
  drop_first(current);
}

void ControlPath::progress(const Handler& handler) {
  while (control_waiting()) hand_over(handler);
  const std::lock_guard lock(mutex_);
  if (broken_) restart();
  std::uint64_t now = 0;
  bool stalled = false;  // looking for a route may take long: once is enough
  for (auto& [rank, p] : peers_) {
    if (p.owes_answer && (p.address_handle != nullptr || !stalled)) {
      transmit(Rank{rank}, p, nullptr);
      stalled = stalled || p.address_handle == nullptr;
    }
    if (p.waiting.empty()) continue;
    if (now == 0) now = monotonic_ns();
    repeat(Rank{rank}, p, now, stalled);
  }
}

/// Sends the control messages to @p to again when they are overdue. Looking for a route may take
/// long, so one call of progress() looks for one route at most: a failure sets @p stalled, and
/// ranks without an address handle are left out from then on.
void ControlPath::repeat(Rank to, Peer& p, std::uint64_t now, bool& stalled) {
  if (p.waiting.empty() || now - p.sent_ns < p.patience_ns) return;
  renew_address_handle(p, now);
  if (p.address_handle == nullptr && stalled) return;
  p.sent_ns = now;
  p.patience_ns = std::min(2 * p.patience_ns, kMostPatienceNs);
  if (!find_address_handle(to, p)) {
    stalled = true;
    return;
  }
  std::uint32_t left = kWindow;
  for (const Message& message : p.waiting) {
    if (left-- == 0) break;
    ++repeated_;
    transmit(to, p, &message);
  }
}

bool ControlPath::all_delivered() const noexcept {
  const std::lock_guard lock(mutex_);
  return !broken_ && arrived_.empty() &&
         std::all_of(peers_.begin(), peers_.end(),
                     [](const auto& entry) { return entry.second.waiting.empty(); });
}

bool ControlPath::all_delivered(Rank to) const noexcept {
  const std::lock_guard lock(mutex_);
  if (to == job_.rank())
    return std::none_of(arrived_.begin(), arrived_.end(),
                        [to](const Message& message) { return message.from == to; });
  const auto found = peers_.find(index(to));
  return found == peers_.end() || found->second.waiting.empty();
}

void ControlPath::forget(Rank to) noexcept {
  const std::lock_guard lock(mutex_);
  if (const auto found = peers_.find(index(to)); found != peers_.end())
    found->second.waiting.clear();
}

std::vector<Rank> ControlPath::silent_for(std::uint64_t ns) const {
  const std::lock_guard lock(mutex_);
  std::vector<Rank> silent;
  const std::uint64_t now = monotonic_ns();
  for (const auto& [rank, p] : peers_)
    if (!p.waiting.empty() && now - p.since_ns >= ns) silent.push_back(Rank{rank});
  return silent;
}

std::vector<Rank> ControlPath::out_of_reach(std::uint64_t ns) {
  constexpr std::uint64_t kUnansweredNs = 100'000'000;
  const std::lock_guard lock(mutex_);
  const std::uint64_t now = monotonic_ns();
  attended_ns_ += std::min(now - looked_ns_, kMostPatienceNs);
  looked_ns_ = now;
  const std::vector<Rank> silent = silent_for(kUnansweredNs);
  if (silent.empty()) return {};
  const auto most = static_cast<std::uint64_t>(device_.settings().silence_ns);
  const bool down = !device_.port_is_active();
  std::vector<Rank> cut;
  for (const Rank rank : silent) {
    Peer& p = peers_[index(rank)];
    if (most != 0 && now - std::max(p.since_ns, p.heard_ns) >= most &&
        attended_ns_ - p.silent_since >= most) {
      cut.push_back(rank);
      continue;
    }
    const bool theirs_down = job_.record(rank).ports_down.load(std::memory_order_relaxed) != 0;
    if (!down && !theirs_down && p.address_handle != nullptr)
      p.cut_since = 0;
    else if (p.cut_since == 0)
      p.cut_since = attended_ns_;
    else if (attended_ns_ - p.cut_since >= ns)
      cut.push_back(rank);
  }
  return cut;
}

}  // namespace viaduct::via::verbs
