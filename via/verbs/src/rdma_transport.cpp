#include "via/verbs/src/rdma_transport.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "via/choice.hpp"
#include "via/verbs/src/errors.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/stats.hpp"

namespace viaduct::via::verbs {

namespace {

constexpr CounterName kTransportCounterNames[kTransportCounterCount] = {
    {"posts", "chains"},
    {"chained", "requests"},
    {"signalled", "requests"},
    {"notifications", "messages"},
    {"copied", "bytes"},
    {"direct", "bytes"},
    {"unsure", "transfers"},
    {"cache_hits", "transfers"},
    {"registrations", "regions"},
    {"dropped", "regions"},
    {"evicted", "regions"},
    {"not_cached", "transfers"},
    {"most_pinned", "bytes"},
    {"chunks", "bytes"},
    {"control_repeated", "control messages"},
    {"receiver_not_ready", "packets of the device"},
    {"shared_receives_low", "times"},
    {"port_down", "times"},
};

/// First byte of a control message.
enum class Envelope : std::uint8_t { client, ready };

Settings loaded_settings() {
  Settings settings;
  config::load(&settings, options());
  return settings;
}

[[noreturn]] void throw_setup(const Device& device, int error, const std::string& what) {
  throw_refused(error, "RDMA device " + device.name() + ": cannot make " + what);
}

ErrorCause cause_of(ibv_wc_status status) noexcept {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return ErrorCause::connection_lost;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return ErrorCause::receive_queue_empty;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_LOC_PROT_ERR:
      return ErrorCause::protection;
    default:
      return ErrorCause::transport;
  }
}

}  // namespace

std::unique_ptr<via::Transport> open_transport(Job& job, std::string_view device) {
  return std::make_unique<RdmaTransport>(job, loaded_settings(), device);
}

std::uint64_t receivers_not_ready(const Device& device) {
  const std::string folder = "/sys/class/infiniband/" + device.name() + "/ports/" +
                             std::to_string(device.port()) + "/hw_counters/";
  std::uint64_t sum = 0;
  for (const char* name : {"send_rnr_err", "out_of_buffer"}) {
    std::uint64_t value = 0;
    if (std::ifstream(folder + name) >> value) sum += value;
  }
  return sum;
}

std::vector<Address> exchange_addresses(Job& job, const std::string& key, const Address& mine) {
  job.bootstrap().put_value(key, mine);
  fence_of_provider(job, key, "verbs");
  std::vector<Address> all(job.size());
  for (std::uint32_t r = 0; r < job.size(); ++r) {
    all[r] = job.bootstrap().get_value<Address>(Rank{r}, key).value_or(Address{});
    if (all[r].magic != Address::kMagic)
      throw Error(errors::versions_differ, std::errc::protocol_error,
                  "rank " + std::to_string(r) +
                      " shows no RDMA address of this version: start all ranks from one build");
    if ((all[r].ethernet != 0) != (mine.ethernet != 0))
      throw Error(errors::rdma_device, std::errc::network_unreachable,
                  "rank " + std::to_string(r) + " uses an RDMA device on " +
                      (all[r].ethernet != 0 ? "Ethernet" : "InfiniBand") +
                      ", and this rank one on the other: name devices of one network in "
                      "VIADUCT_VERBS_DEVICE");
  }
  return all;
}

RdmaTransport::RdmaTransport(Job& job, const Settings& settings, std::string_view device)
    : job_(job), device_(settings, device, turn_of(job, job.rank())), events_(device_, job) {
  Address address;
  device_.fill(address);
  control_path_ = std::make_unique<ControlPath>(job, device_, events_.channel(), address);
  domain_.reset(library().alloc_pd(device_.context()));
  if (domain_ == nullptr) throw_setup(device_, errno, "a protection domain");
  staging_ = std::make_unique<StagingPool>(domain_.get());
  memory_ = std::make_unique<BulkMemory>(domain_.get(), settings);
  make_room(send_queue_, 0);
  make_room(receive_queue_, 0);
  receives_.open(device_, domain_.get());
  not_ready_before_ = receivers_not_ready(device_);
  control_path_->set_peers(exchange_addresses(job, next_nic_key(job), address));
  job_.stats().add("transport", kTransportCounterNames, counters_);
  // From here on nothing fails: the thread of events calls this object.
  events_.on_control([this] { control_path_->answer(); });
  control_path_->answer();  // packets that have come already
}

RdmaTransport::~RdmaTransport() {
  events_.on_control(nullptr);
  counters_[kRepeatedControl] = control_path_->repeated();
  counters_[kNotReady] = receivers_not_ready(device_) - not_ready_before_;
  record_cache();
  job_.stats().remove(counters_);
}

void RdmaTransport::record_cache() noexcept {
  const RegistrationCache::Counters& cache = memory_->counters();
  counters_[kHits] = cache.hits;
  counters_[kRegistrations] = cache.registrations;
  counters_[kDropped] = cache.invalidations;
  counters_[kEvicted] = cache.evictions;
  counters_[kNotCached] = cache.not_cached + cache.refused;
  counters_[kMostPinned] = cache.most_pinned_bytes;
  counters_[kUnsure] = memory_->unsure();
}

std::optional<std::uint32_t> RdmaTransport::register_chunk(std::byte* address,
                                                           std::size_t bytes) noexcept {
  const std::optional<std::uint32_t> key = memory_->add_chunk(address, bytes);
  if (key) counters_[kChunks] += bytes;
  return key;
}

/// Both completion queues have a place for every request of every link: they are never overrun.
void RdmaTransport::make_room(OwnedQueue& queue, std::size_t entries) {
  constexpr std::size_t kLeast = 255;
  const auto most = static_cast<std::size_t>(device_.limits().max_cqe);
  if (entries > most)
    throw Error(errors::rdma_device, std::errc::no_buffer_space,
                "RDMA device " + device_.name() + " has completion queues of at most " +
                    std::to_string(most) +
                    " entries, too few for so many peers: lower VIADUCT_VERBS_LINK_DEPTH or "
                    "VIADUCT_AM_SLOTS");
  // As many as a queue of a power of two has: it rarely grows.
  const auto size =
      static_cast<int>(std::min(std::max(std::bit_ceil(entries + 1) - 1, kLeast), most));
  if (queue == nullptr) {
    queue.reset(library().create_cq(device_.context(), size, nullptr, events_.channel(), 0));
    if (queue == nullptr) throw_setup(device_, errno, "a completion queue");
  } else if (entries > static_cast<std::size_t>(queue->cqe)) {
    const int error = library().resize_cq(queue.get(), size);
    if (error != 0)
      throw_setup(device_, error, "a completion queue of " + std::to_string(size) + " entries");
  }
}

std::unique_ptr<via::Link> RdmaTransport::make_link(std::byte* block, std::size_t half_bytes,
                                                    std::uint32_t notifications, void* owner) {
  return std::make_unique<RdmaLink>(*this, block, half_bytes, notifications, owner);
}

/// As Soft-RoCE lays out its queues, which no hardware exceeds: places of a power of two in size,
/// and one more than are used, up to a power of two. Of a shared receive queue and of the two
/// completion queues a link has its share, in the latter twice its entries, since they double.
std::size_t RdmaTransport::bytes_per_link(std::uint32_t notifications) const noexcept {
  constexpr std::size_t kSendHead = 200;
  constexpr std::size_t kCompletion = 64;
  constexpr std::size_t kReceivePlace = 64;  // of one segment
  const Settings& settings = device_.settings();
  const auto bytes = static_cast<std::size_t>(settings.link_inline_bytes);
  const std::size_t sends = std::bit_ceil(static_cast<std::size_t>(settings.link_depth) + 1) *
                            std::bit_ceil(kSendHead + bytes);
  const std::size_t receives =
      receives_.queue() != nullptr ? notifications : std::bit_ceil(std::size_t{notifications} + 1);
  const std::size_t completions =
      2 * (static_cast<std::size_t>(settings.link_depth) + notifications);
  return sends + receives * kReceivePlace + completions * kCompletion + sizeof(RdmaLink) +
         sizeof(QueuePair);
}

void RdmaTransport::add(RdmaLink& link) {
  const bool shared = receives_.has_room(link.notifications_);
  make_room(send_queue_, send_entries_ + link.depth_);
  make_room(receive_queue_, left_entries_ + receive_entries_ + link.notifications_);
  QueuePair::Size size;
  size.sends = link.depth_;
  size.receives = shared ? 0 : link.notifications_;
  size.segments = 1;
  size.inline_bytes = static_cast<std::uint32_t>(device_.settings().link_inline_bytes);
  for (;;) {
    try {
      link.pair_ = std::make_unique<QueuePair>(device_, domain_.get(), send_queue_.get(),
                                               receive_queue_.get(), size,
                                               shared ? receives_.queue() : nullptr);
      break;
    } catch (const Error&) {  // perhaps it copies less
      if (size.inline_bytes == 0) throw;
      size.inline_bytes = size.inline_bytes < 64 ? 0 : size.inline_bytes - 64;
    }
  }
  ibv_recv_wr request{};
  for (std::uint32_t i = 0; i < size.receives; ++i)
    if (!link.pair_->post_receive(request))
      throw_setup(device_, ENOMEM, std::to_string(size.receives) + " receives for a peer");
  link.inline_bytes_ = link.pair_->inline_bytes();
  by_id_.reserve(by_id_.size() + 1);
  failed_.reserve(by_id_.size() + 1);                // record_failure() must not fail
  links_.emplace(link.pair_->name().number, &link);  // the last that may fail
  const auto free = std::find(by_id_.begin(), by_id_.end(), nullptr);
  link.id_high_ = static_cast<std::uint64_t>(free - by_id_.begin()) << 32;
  if (free == by_id_.end())
    by_id_.push_back(&link);
  else
    *free = &link;
  send_entries_ += link.depth_;
  receive_entries_ += link.notifications_;
  if (shared) {
    link.shared_ = true;
    receives_.add_share(link.notifications_);
  }
}

/// The device forgets the link before its completions are taken out of the queues.
void RdmaTransport::remove(RdmaLink& link) noexcept {
  if (link.pair_ == nullptr) return;
  const std::uint32_t number = link.pair_->name().number;
  links_.erase(number);
  recent_.fill({});
  by_id_[link.id_high_ >> 32] = nullptr;
  std::erase(failed_, &link);
  link.pair_.reset();
  while (link.done_ != link.begun_) link.end_transfer();
  reap_sends();
  send_entries_ -= link.depth_;
  receive_entries_ -= link.notifications_;
  left_entries_ += link.notifications_;
  if (link.shared_) receives_.drop_share(link.notifications_);
}

/// The link of the queue pair @p number, null where it is no more.
inline RdmaLink* RdmaTransport::link_of(std::uint32_t number) noexcept {
  Recent& recent = recent_[number % kRecent];
  return recent.number == number ? recent.link : find_link(number);
}

RdmaLink* RdmaTransport::find_link(std::uint32_t number) noexcept {
  const auto at = links_.find(number);
  if (at == links_.end()) return nullptr;
  recent_[number % kRecent] = {number, at->second};
  return at->second;
}

/// Answers whether it was a message.
inline bool RdmaTransport::take(const ibv_wc& wc, LinkEvent& out) noexcept {
  RdmaLink* const link = link_of(wc.qp_num);
  if (link == nullptr) [[unlikely]] {
    receives_.lose_one();
    return false;
  }
  receives_.consume(static_cast<std::uint32_t>(link->shared_));
  if (wc.status != IBV_WC_SUCCESS) [[unlikely]] {
    if (wc.status != IBV_WC_WR_FLUSH_ERR) record_failure(*link, wc.status);
    return false;
  }
  if (!link->ready_) [[unlikely]]
    link->set_ready();  // a peer that sends takes packets
  out = {link->owner_, ntohl(wc.imm_data), ErrorCause::none};
  if (!link->shared_) [[unlikely]]
    give_receive(*link);
  return true;
}

void RdmaTransport::give_receive(RdmaLink& link) noexcept {
  ibv_recv_wr request{};
  if (!link.pair_->post_receive(request))  // a broken device
    record_failure(link, IBV_WC_LOC_QP_OP_ERR);
}

std::size_t RdmaTransport::poll(LinkEvents& out) noexcept {
  if (events_.any()) [[unlikely]]
    handle_device_events();
  if (++polls_ % kLookAtSends == 0) [[unlikely]]
    look_at_sends();
  std::array<ibv_wc, std::tuple_size_v<LinkEvents>> done;
  constexpr auto most = static_cast<int>(done.size());
  const int found = ibv_poll_cq(receive_queue_.get(), most, done.data());
  std::size_t n = 0;
  for (int i = 0; i < found; ++i)
    if (take(done[static_cast<std::size_t>(i)], out[n])) [[likely]]
      ++n;
  counters_[kNotifications] += n;
  if (found < most) left_entries_ = 0;
  receives_.post_batches();
  if (failed_.empty()) [[likely]]
    return n;
  return n + tell_failures(std::span(out).subspan(n), found < most,
                           static_cast<std::size_t>(std::max(found, 0)));
}

void RdmaTransport::look_at_sends() noexcept {
  reap_sends();
  memory_->sweep();
}

/// Reports failures behind the messages that came before: once the queue has been @p empty, or all
/// that it can hold has been @p polled.
std::size_t RdmaTransport::tell_failures(std::span<LinkEvent> out, bool empty,
                                         std::size_t polled) noexcept {
  std::size_t n = 0;
  polled_since_failure_ += polled;
  if (!empty && polled_since_failure_ < static_cast<std::size_t>(receive_queue_->cqe)) return 0;
  while (!failed_.empty() && n < out.size()) {
    RdmaLink* link = failed_.back();
    failed_.pop_back();
    out[n++] = {link->owner_, 0, link->cause_};
  }
  if (failed_.empty()) polled_since_failure_ = 0;
  return n;
}

void RdmaTransport::reap_sends() noexcept {
  std::array<ibv_wc, 16> done;
  int found = 0;
  do {
    found = ibv_poll_cq(send_queue_.get(), static_cast<int>(done.size()), done.data());
    for (int i = 0; i < found; ++i) {
      const ibv_wc& wc = done[static_cast<std::size_t>(i)];
      const auto id = static_cast<std::size_t>(wc.wr_id >> 32);
      RdmaLink* link = id < by_id_.size() ? by_id_[id] : nullptr;
      if (link == nullptr || link->pair_ == nullptr || link->pair_->name().number != wc.qp_num)
        continue;
      link->completed(static_cast<std::uint32_t>(wc.wr_id), wc.status == IBV_WC_SUCCESS);
      if (wc.status != IBV_WC_SUCCESS && wc.status != IBV_WC_WR_FLUSH_ERR)
        record_failure(*link, wc.status);
    }
  } while (found == static_cast<int>(done.size()));
}

void RdmaTransport::record_failure(RdmaLink& link, ibv_wc_status status) noexcept {
  if (link.failed_) return;
  link.set_failed();
  link.cause_ = cause_of(status);
  if (link.begun_ != link.done_) link.pair_->fail();  // nothing more reaches the program's memory
  failed_.push_back(&link);
  if (!job_.log().enabled(LogLevel::info)) return;
  try {
    job_.log().write(LogLevel::info, "verbs: the connection to rank " +
                                         std::to_string(index(link.peer_)) +
                                         " has failed: " + library().wc_status_str(status));
  } catch (const std::bad_alloc&) {  // the failure itself is told of all the same
  }
}

void RdmaTransport::arm() noexcept {
  (void)ibv_req_notify_cq(receive_queue_.get(), 0);
  (void)ibv_req_notify_cq(send_queue_.get(), 0);
  control_path_->arm();
  reap_sends();
}

// Control messages.

void RdmaTransport::send_control(Rank to, std::span<const std::byte> message) {
  std::array<std::byte, ControlPath::kMaxBytes> bytes;
  bytes[0] = static_cast<std::byte>(Envelope::client);
  std::copy(message.begin(), message.end(), bytes.begin() + 1);
  control_path_->send(to, std::span(bytes).first(1 + message.size()));
}

void RdmaTransport::tell_ready(Rank to, std::uint32_t pair) {
  std::array<std::byte, 1 + sizeof pair> bytes;
  bytes[0] = static_cast<std::byte>(Envelope::ready);
  std::memcpy(bytes.data() + 1, &pair, sizeof pair);
  control_path_->send(to, bytes);
}

void RdmaTransport::progress(const ControlHandler& handler) {
  control_path_->progress([&](Rank from, std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    if (bytes[0] == static_cast<std::byte>(Envelope::client))
      return handler(from, bytes.subspan(1));
    std::uint32_t pair = 0;
    if (bytes.size() != 1 + sizeof pair) return;
    std::memcpy(&pair, bytes.data() + 1, sizeof pair);
    if (const auto found = links_.find(pair); found != links_.end() && found->second->peer_ == from)
      found->second->set_ready();
  });
  // Behind the control messages: a peer that has ended a connection has said so.
  if (!events_.take_keepalive()) return;
  reap_sends();
  for (const auto& [number, link] : links_) link->keep_alive();
}

}  // namespace viaduct::via::verbs
