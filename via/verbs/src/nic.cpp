/// Set-up of provider verbs: the device, protection tags, memory regions, queues.

#include "via/verbs/src/nic.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "via/choice.hpp"
#include "via/verbs/src/errors.hpp"
#include "via/verbs/src/rdma_transport.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/stats.hpp"

namespace viaduct::via::verbs {

namespace {

constexpr CounterName kCounterNames[kCounterCount] = {
    {"sends", "descriptors"},
    {"inline_sends", "descriptors"},
    {"rdma", "operations"},
    {"sleeps", "calls"},
    {"connections", "connections"},
    {"control_repeated", "control messages"},
    {"receiver_not_ready", "packets of the device"},
};

constexpr std::size_t kBlockAlignment = 128;
constexpr std::size_t kOwnPagesFrom = 64 * 1024;

Settings loaded() {
  Settings settings;
  config::load(&settings, options());
  return settings;
}

}  // namespace

std::unique_ptr<via::Nic> open(Job& job, std::string_view device) {
  return std::make_unique<Nic>(job, loaded(), device);
}

Nic::Nic(Job& job, const Settings& settings, std::string_view device)
    : job_(job),
      bootstrap_key_(next_nic_key(job)),
      settings_(settings),
      device_(settings, device, turn_of(job, job.rank())),
      events_(device_, job),
      tags_(job.rank()),
      connections_(job.rank(), *this) {
  const ibv_device_attr& limits = device_.limits();
  const auto at_most = [](std::int64_t wanted, auto limit) {
    return static_cast<std::uint32_t>(
        std::min<std::int64_t>(wanted, static_cast<std::int64_t>(limit)));
  };
  attributes_.name = "verbs";
  attributes_.max_transfer_bytes = at_most(1 << 30, device_.port_attributes().max_msg_sz);
  attributes_.max_segments = at_most(kMaxSegments, limits.max_sge);
  // At reliable reception a send takes two work requests; keep_alive() takes one.
  attributes_.max_queue_depth = at_most(settings.max_queue_depth, (limits.max_qp_wr - 1) / 2);
  attributes_.max_regions = at_most(settings.max_regions, limits.max_mr);
  attributes_.max_completion_queue = at_most(1 << 22, limits.max_cqe / 2);
  attributes_.immediate_bits = 32;
  attributes_.rdma_read = limits.max_qp_rd_atom > 0;
  attributes_.atomics = limits.atomic_cap != IBV_ATOMIC_NONE;
  attributes_.reliable_delivery = true;
  attributes_.reliable_reception = attributes_.rdma_read;
  attributes_.inline_bytes = find_inline_limit();

  Address address;
  device_.fill(address);
  control_path_ = std::make_unique<ControlPath>(job, device_, events_.channel(), address);
  life_epoch_ = 0;
  not_ready_before_ = receivers_not_ready(device_);
  control_path_->set_peers(exchange_addresses(job_, bootstrap_key_, address));
  job_.stats().add("verbs", kCounterNames, counters_);
  // From here on nothing fails: the thread of events calls this object.
  events_.on_control([this] { control_path_->answer(); });
  control_path_->answer();  // packets that have come already
}

Nic::~Nic() {
  incoming_peer_ = nullptr;  // the owner of the callback is ending
  errors_.set([](const AsyncError&) {});
  left_queues_.clear();
  // Peers that have ended do not answer; of others a control message may be lost twice or three
  // times.
  constexpr std::int64_t kLastControlNs = 300'000'000;
  // Its ends must be gone as well: no peer is to answer this rank when the rank is gone.
  progress_until(
      [this] { return control_path_->all_delivered() && connections_.connector().ends().empty(); },
      kLastControlNs);
  events_.on_control(nullptr);
  counters_[kControlRepeated] = control_path_->repeated();
  counters_[kReceiverNotReady] = receivers_not_ready(device_) - not_ready_before_;
  job_.stats().remove(counters_);
}

void Nic::Block::Delete::operator()(std::byte* piece) const noexcept {
  ::operator delete (piece, std::align_val_t{kBlockAlignment});
}

/// The device's largest inline send of a queue pair with full lists, up to the wanted size: found
/// by making one.
std::uint32_t Nic::find_inline_limit() {
  const OwnedDomain domain(library().alloc_pd(device_.context()));
  const OwnedQueue queue(library().create_cq(device_.context(), 16, nullptr, nullptr, 0));
  std::uint32_t found = 0;
  bool made = false;
  auto wanted = static_cast<std::uint32_t>(settings_.inline_bytes);
  while (domain != nullptr && queue != nullptr && !made) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = queue.get();
    attributes.cap = {16, 16, attributes_.max_segments, attributes_.max_segments, wanted};
    attributes.qp_type = IBV_QPT_RC;
    if (OwnedPair(library().create_qp(domain.get(), &attributes)) != nullptr) {
      made = true;
      found = wanted;
    }
    if (wanted == 0) break;
    wanted /= 2;
  }
  if (!made) throw_refused(errno, "RDMA device " + device_.name() + " makes no queue pair");
  return found;
}

// Protection tags.

ProtectionTag Nic::create_tag() {
  OwnedDomain domain(library().alloc_pd(device_.context()));
  if (domain == nullptr)
    throw Error(errors::rdma_device, errno,
                "RDMA device " + device_.name() + " makes no protection domain, of at most " +
                    std::to_string(device_.limits().max_pd));
  const ProtectionTag tag = tags_.create();
  domains_.emplace(tag, Domain{std::move(domain), nullptr});
  return tag;
}

void Nic::destroy_tag(ProtectionTag tag) {
  tags_.destroy(tag);
  domains_.erase(tag);
}

const ibv_mr& Nic::flush_region(ProtectionTag tag) {
  Domain& entry = domains_.at(tag);
  if (entry.flush == nullptr) {
    entry.flush.reset(library().reg_mr(entry.domain.get(), &flush_word_, sizeof flush_word_,
                                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
    if (entry.flush == nullptr)
      throw_registration(errno, "the word that peers read", sizeof flush_word_);
  }
  return *entry.flush;
}

// Memory.

MemoryRegion Nic::register_memory(ProtectionTag tag, std::byte* address, std::size_t bytes,
                                  Rights rights) {
  tags_.require_region(tag, address, bytes);
  if (regions_.size() >= attributes_.max_regions)
    throw Error(errors::regions_used_up, std::errc::no_buffer_space,
                "all " + std::to_string(attributes_.max_regions) +
                    " memory regions are in use: raise "
                    "VIADUCT_VERBS_REGIONS");
  const bool allocated = std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
    const auto at = static_cast<std::size_t>(address - block.first);
    return at <= block.second.bytes && bytes <= block.second.bytes - at;
  });
  if (includes(rights, Rights::atomic) && !allocated)
    throw Error(errors::private_memory, std::errc::operation_not_supported,
                "atomics need memory from Nic::allocate: allocate it there instead of registering "
                "private memory");
  int access = 0;
  if (includes(rights, Rights::rdma_write)) access |= IBV_ACCESS_REMOTE_WRITE;
  if (includes(rights, Rights::rdma_read)) access |= IBV_ACCESS_REMOTE_READ;
  if (includes(rights, Rights::atomic)) access |= IBV_ACCESS_REMOTE_ATOMIC;
  ibv_pd* const domain = domain_of(tag);
  OwnedRegion region(library().reg_mr(domain, address, bytes, access | IBV_ACCESS_LOCAL_WRITE));
  if (region == nullptr && errno != ENOMEM && includes(Rights::rdma_read, rights))
    region.reset(library().reg_mr(domain, address, bytes, access));  // read-only memory
  if (region == nullptr) throw_registration(errno, "a memory region", bytes);
  const std::uint32_t handle = region->lkey;
  if ((access != 0 && region->rkey != handle) || handle == 0 || regions_.contains(handle)) {
    throw Error(errors::rdma_device, std::errc::operation_not_supported,
                "RDMA device " + device_.name() +
                    " has keys for local and for remote use that differ, which this provider does "
                    "not support");
  }
  regions_.emplace(handle,
                   Region{std::move(region), reinterpret_cast<std::uint64_t>(address), bytes, tag});
  tags_.add_use(tag);
  return MemoryRegion(this, static_cast<MemoryHandle>(handle), address, bytes);
}

void Nic::deregister(MemoryHandle handle) noexcept {
  const auto found = regions_.find(static_cast<std::uint32_t>(handle));
  if (found == regions_.end()) return;
  tags_.drop_use(found->second.tag);
  regions_.erase(found);
}

std::byte* Nic::allocate(std::size_t bytes) {
  const std::size_t size = std::max<std::size_t>(bytes, 1);
  Block block;
  block.bytes = size;
  if (size >= kOwnPagesFrom) {
    block.pages = MappedMemory(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), size);
    if (!block.pages)
      throw_errno(errors::system_refused, "cannot allocate " + std::to_string(size) + " bytes");
  } else {
    void* const piece = ::operator new (size, std::align_val_t{kBlockAlignment});
    block.piece.reset(static_cast<std::byte*>(std::memset(piece, 0, size)));
  }
  std::byte* const at = block.pages ? block.pages.get() : block.piece.get();
  blocks_.emplace(at, std::move(block));
  return at;
}

void Nic::release(std::byte* address) noexcept { blocks_.erase(address); }

// Queues and VIs.

std::unique_ptr<via::CompletionQueue> Nic::create_completion_queue(std::size_t capacity) {
  return std::make_unique<CompletionQueue>(*this, capacity);
}

void Nic::check_attributes(const ViAttributes& a) const {
  const auto bad = [](const std::string& sentence) {
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                "cannot create a VI: " + sentence);
  };
  tags_.require(a.tag, "cannot create a VI: ");
  if (a.reliability == Reliability::unreliable)
    bad("provider verbs has reliable connections only (reliable delivery, reliable reception)");
  if (a.reliability == Reliability::reception && !attributes_.reliable_reception)
    bad("RDMA device " + device_.name() + " cannot read, which reliable reception needs");
  for (const std::uint32_t depth : {a.send_depth, a.receive_depth})
    if (depth == 0 || depth > attributes_.max_queue_depth)
      bad("a queue of " + std::to_string(depth) + " descriptors: the NIC allows 1 to " +
          std::to_string(attributes_.max_queue_depth) + " (VIADUCT_VERBS_QUEUE_DEPTH)");
}

std::unique_ptr<via::Vi> Nic::create_vi(const ViAttributes& attributes) {
  check_attributes(attributes);
  if (!runs_callback()) left_queues_.clear();
  return std::make_unique<Vi>(*this, attributes);
}

std::uint32_t Nic::add_vi(Vi& vi) {
  std::uint32_t slot = 0;
  if (free_vis_.empty()) {
    if (vis_.size() > kIdMask)
      throw Error(errors::too_many_objects, std::errc::no_buffer_space,
                  "a NIC has at most 65536 VIs");
    slot = static_cast<std::uint32_t>(vis_.size());
    vis_.push_back(&vi);
  } else {
    slot = free_vis_.back();
    free_vis_.pop_back();
    vis_[slot] = &vi;
  }
  tags_.add_use(vi.attributes_.tag);
  return (++vi_generation_ & 0x7fff) << 16 | slot;
}

void Nic::renumber_vi(Vi& vi) { vi.id_ = (++vi_generation_ & 0x7fff) << 16 | (vi.id_ & kIdMask); }

void Nic::remove_vi(Vi& vi) noexcept {
  vis_[vi.id_ & kIdMask] = nullptr;
  free_vis_.push_back(vi.id_ & kIdMask);
  tags_.drop_use(vi.attributes_.tag);
  errors_.forget(vi);
}

Vi* Nic::find_vi(std::uint32_t id) noexcept {
  Vi* vi = (id & kIdMask) < vis_.size() ? vis_[id & kIdMask] : nullptr;
  return vi != nullptr && vi->id_ == id ? vi : nullptr;
}

void Nic::deliver(const ibv_wc& wc) noexcept {
  if (Vi* vi = find_vi(static_cast<std::uint32_t>(wc.wr_id >> 33))) vi->completed(wc);
}

}  // namespace viaduct::via::verbs
