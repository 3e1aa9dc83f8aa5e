/// Set-up of provider shm: the NIC's page, memory regions, queues.

#include "via/shm/nic.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "runtime/errors/codes.hpp"
#include "runtime/mappings.hpp"
#include "via/choice.hpp"
#include "via/copy.hpp"
#include "viaduct/runtime/atomic.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/log.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/runtime/stats.hpp"

namespace viaduct::via::shm {

namespace {

constexpr CounterName kCounterNames[kCounterCount] = {
    {"doorbells", "doorbells"}, {"wakes", "calls"},        {"sleeps", "calls"},
    {"capped_sleeps", "calls"}, {"delivered", "messages"}, {"cross_memory", "calls"},
    {"staged", "messages"},     {"rdma", "operations"},    {"connections", "connections"},
};

// Values of RegionEntry::writable.
constexpr std::uint32_t kUnknown = 0;
constexpr std::uint32_t kWritable = 1;
constexpr std::uint32_t kReadOnly = 2;

/// Whether process_vm_readv works at all: seccomp profiles of containers refuse it, even on the
/// process itself.
bool kernel_has_cross_memory() noexcept {
  std::uint64_t from = 1;
  std::uint64_t to = 0;
  const iovec here{&to, sizeof(to)};
  const iovec there{&from, sizeof(from)};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof(to);
}

/// Blocks of this rank's window, which are released unless they are kept.
class WindowBlocks {
  static constexpr std::size_t kMost = 4;  // page, mailbox, regions, attention word

 public:
  explicit WindowBlocks(Segment& segment) : segment_(segment) {}
  ~WindowBlocks() {
    while (count_ != 0) segment_.release(offsets_[--count_]);
  }
  WindowBlocks(const WindowBlocks&) = delete;
  WindowBlocks& operator=(const WindowBlocks&) = delete;
  std::size_t allocate(std::size_t bytes) { return offsets_[count_++] = segment_.allocate(bytes); }
  void keep() noexcept { count_ = 0; }

 private:
  Segment& segment_;
  std::array<std::size_t, kMost> offsets_{};
  std::size_t count_ = 0;
};

}  // namespace

AtomicWord<std::uint64_t>& Nic::make_attention(Job& job) {
  Segment& segment = job.segment();
  return *new (segment.base() + segment.allocate(kCacheLineBytes)) AtomicWord<std::uint64_t>{0};
}

Nic::Nic(Job& job, AtomicWord<std::uint64_t>* attention)
    : job_(job),
      bootstrap_key_(via::next_nic_key(job)),
      tags_(job.rank()),
      connections_(job.rank(), *this) {
  config::load(&settings_, options());
  if (settings_.copy_threshold != config::kAuto)
    set_copy_threshold(static_cast<std::size_t>(settings_.copy_threshold));
  attributes_.name = "shm";
  attributes_.max_transfer_bytes = 0x7fffffff;
  attributes_.max_segments = kMaxSegments;
  attributes_.max_queue_depth = static_cast<std::uint32_t>(settings_.max_queue_depth);
  attributes_.max_regions = static_cast<std::uint32_t>(settings_.max_regions);
  attributes_.max_completion_queue = 1U << 24;
  attributes_.immediate_bits = 64;
  attributes_.inline_bytes = kInlineBytes;
  attributes_.rdma_read = attributes_.atomics = true;
  attributes_.unreliable = attributes_.reliable_delivery = attributes_.reliable_reception = true;

  Segment& segment = job_.segment();
  const std::size_t words = (job_.size() + 63) / 64;
  WindowBlocks blocks(segment);
  page_offset_ = blocks.allocate(sizeof(NicPage) + words * 8);
  mailbox_offset_ = blocks.allocate(job_.size() * sizeof(MailboxEntry));
  regions_offset_ = blocks.allocate(attributes_.max_regions * sizeof(RegionEntry));
  page_ = new (segment.base() + page_offset_) NicPage{};
  mailbox_ = reinterpret_cast<MailboxEntry*>(segment.base() + mailbox_offset_);
  regions_ = reinterpret_cast<RegionEntry*>(segment.base() + regions_offset_);
  page_->magic = NicPage::kMagic;
  page_->mailbox_offset = mailbox_offset_;
  page_->regions_offset = regions_offset_;
  page_->max_regions = attributes_.max_regions;
  page_->pid = getpid();
  if (attention == nullptr)
    attention =
        new (segment.base() + blocks.allocate(kCacheLineBytes)) AtomicWord<std::uint64_t>{0};
  attention_ = attention;
  page_->attention_offset =
      static_cast<std::uint64_t>(reinterpret_cast<std::byte*>(attention_) - segment.base());
  region_generation_.resize(attributes_.max_regions, 0);
  for (std::uint32_t i = attributes_.max_regions; i-- > 0;) free_regions_.push_back(i);
  peers_ = std::make_unique<std::unique_ptr<Peer>[]>(job_.size());
  cross_memory_works_ = settings_.cross_memory && kernel_has_cross_memory();
  if (settings_.cross_memory)
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // fails, rightly, without Yama

  job_.bootstrap().put_value(bootstrap_key_, page_offset_);
  fence_of_provider(job_, bootstrap_key_, "shm");
  job_.stats().add("shm", kCounterNames, counters_);
  blocks.keep();  // until the job ends: peers may still look at them
}

/// A peer that does not empty its mailbox in time finds this NIC closed.
void Nic::finish() noexcept {
  incoming_peer_ = nullptr;  // the owner of the callback is ending
  errors_.set([](const AsyncError&) {});
  left_queues_.clear();
  progress_until([this] { return outbox_.empty() && !remote_busy(); }, 100'000'000);
}

Nic::~Nic() {
  finish();
  close();
  job_.stats().remove(counters_);
}

Nic::Peer& Nic::peer(Rank rank) {
  std::unique_ptr<Peer>& known = peers_[index(rank)];
  if (known != nullptr) return *known;
  const auto published = job_.bootstrap().get_value<std::uint64_t>(rank, bootstrap_key_);
  if (!published)
    throw Error(errors::versions_differ, std::errc::protocol_error,
                "rank " + std::to_string(index(rank)) + " published a malformed NIC address");
  const std::uint64_t offset = *published;
  std::byte* window = job_.window_of(rank);
  auto* page = reinterpret_cast<NicPage*>(window + offset);
  const std::size_t bytes = job_.segment().window_bytes();
  if (offset % kCacheLineBytes != 0 || bytes < sizeof(NicPage) ||
      offset > bytes - sizeof(NicPage) || load_word(page->magic, kRelaxed) != NicPage::kMagic)
    throw Error(errors::versions_differ, std::errc::protocol_error,
                "rank " + std::to_string(index(rank)) +
                    " shows no NIC of this version: start all ranks from one build");
  // The page is the peer's memory, and says where this rank reads and writes. Each word is read
  // once: the peer may change it after the check.
  const auto read = [](auto& word) { return load_word(word, kRelaxed); };
  const std::uint64_t mailbox_offset = read(page->mailbox_offset);
  const std::uint64_t regions_offset = read(page->regions_offset);
  const std::uint32_t max_regions = read(page->max_regions);
  const std::uint64_t attention_offset = read(page->attention_offset);
  const std::int32_t pid = read(page->pid);
  const auto fits = [bytes](std::uint64_t at, std::size_t length) {
    return at % kCacheLineBytes == 0 && length <= bytes && at <= bytes - length;
  };
  if (!fits(mailbox_offset, job_.size() * sizeof(MailboxEntry)) ||
      !fits(regions_offset, std::size_t{max_regions} * sizeof(RegionEntry)) ||
      !fits(attention_offset, sizeof(AtomicWord<std::uint64_t>)) ||
      pid != job_.record(rank).pid.load(kRelaxed))
    throw Error(errors::versions_differ, std::errc::protocol_error,
                "rank " + std::to_string(index(rank)) +
                    " shows a NIC that makes no sense: is something writing into its memory?");
  auto made = std::make_unique<Peer>();
  Peer& p = *made;
  p.window = window;
  p.mailbox_entry = reinterpret_cast<MailboxEntry*>(window + mailbox_offset) + index(job_.rank());
  p.regions = reinterpret_cast<RegionEntry*>(window + regions_offset);
  p.max_regions = max_regions;
  p.pid = pid;
  p.page = page;
  p.attention = reinterpret_cast<AtomicWord<std::uint64_t>*>(window + attention_offset);
  known = std::move(made);
  return p;
}

Nic::Peer* Nic::reach(Rank rank) {
  try {
    return &peer(rank);
  } catch (const std::exception&) {
    if (!job_.is_lost(rank)) throw;
    return nullptr;
  }
}

// Memory regions.

bool Nic::is_reachable(const std::byte* address, std::size_t bytes) const noexcept {
  return cross_memory_works_ || job_.threads_mode() || job_.size() == 1 ||
         job_.segment().contains(address, bytes);
}

MemoryRegion Nic::register_memory(ProtectionTag tag, std::byte* address, std::size_t bytes,
                                  Rights rights) {
  tags_.require_region(tag, address, bytes);
  const bool in_window = job_.segment().contains(address, bytes);
  if (!in_window && !is_mapped(address, bytes))
    throw Error(errors::bad_memory_range, std::errc::bad_address,
                "cannot register memory: not all of the range of " + std::to_string(bytes) +
                    " bytes is mapped in this process");
  if (!in_window && includes(rights, Rights::atomic))
    throw Error(errors::private_memory, std::errc::operation_not_supported,
                "atomics need memory that peers map: allocate it with Nic::allocate instead of "
                "registering private memory");
  if (rights != Rights::none && !is_reachable(address, bytes))
    throw Error(errors::private_memory, std::errc::operation_not_permitted,
                "peers cannot reach private memory here (process_vm_writev is refused or "
                "VIADUCT_CROSS_MEMORY=no): "
                "allocate the memory with Nic::allocate, or with Endpoint::make_segment in Active "
                "Messages");
  if (free_regions_.empty())
    throw Error(errors::regions_used_up, std::errc::no_buffer_space,
                "all " + std::to_string(attributes_.max_regions) +
                    " memory regions are in use: raise VIADUCT_SHM_REGIONS");
  const std::uint32_t slot = free_regions_.back();
  while (own_regions_.size() <= slot) own_regions_.emplace_back();
  free_regions_.pop_back();
  const std::uint32_t handle = (std::uint32_t{++region_generation_[slot]} << 20 | slot) + 1;
  const auto fill = [&](RegionEntry& entry) {
    entry.tag = static_cast<std::uint32_t>(tag);
    entry.rights = static_cast<std::uint32_t>(rights);
    entry.in_window = in_window ? 1 : 0;
    entry.address = reinterpret_cast<std::uint64_t>(address);
    entry.bytes = bytes;
    entry.window_offset =
        in_window ? static_cast<std::uint64_t>(address - job_.segment().base()) : 0;
    entry.writable.store(kUnknown, kRelaxed);
    entry.handle.store(handle, kRelease);
  };
  fill(own_regions_[slot]);
  fill(regions_[slot]);
  tags_.add_use(tag);
  return MemoryRegion(this, static_cast<MemoryHandle>(handle), address, bytes);
}

RegionEntry* Nic::local_region(MemoryHandle handle) noexcept {
  const std::uint32_t slot = (static_cast<std::uint32_t>(handle) - 1) & 0xfffff;
  if (handle == MemoryHandle::none || slot >= own_regions_.size()) return nullptr;
  RegionEntry& entry = own_regions_[slot];
  return entry.handle.load(kRelaxed) == static_cast<std::uint32_t>(handle) ? &entry : nullptr;
}

bool Nic::may_write(RegionEntry& entry) noexcept {
  if (entry.in_window != 0) return true;
  if (const std::uint32_t known = entry.writable.load(kRelaxed); known != kUnknown)
    return known == kWritable;
  const auto* const begin = reinterpret_cast<const std::byte*>(entry.address);
  const bool writable = is_page_writable(begin) && is_page_writable(begin + entry.bytes - 1);
  entry.writable.store(writable ? kWritable : kReadOnly, kRelaxed);
  return writable;
}

void Nic::deregister(MemoryHandle handle) noexcept {
  RegionEntry* const own = local_region(handle);
  if (own == nullptr) return;
  const std::uint32_t slot = (static_cast<std::uint32_t>(handle) - 1) & 0xfffff;
  own->handle.store(0, kRelaxed);
  regions_[slot].handle.store(0, kRelease);
  if (static_cast<Rights>(own->rights) != Rights::none) await_all_copies();
  tags_.drop_use(static_cast<ProtectionTag>(own->tag));
  free_regions_.push_back(slot);
}

bool Nic::change_memory(MemoryHandle handle, ProtectionTag tag, Rights rights) {
  RegionEntry* const own = local_region(handle);
  if (own == nullptr || !tags_.contains(tag)) return false;
  const bool reachable = is_reachable(reinterpret_cast<const std::byte*>(own->address), own->bytes);
  if ((own->in_window == 0 && includes(rights, Rights::atomic)) ||
      (rights != Rights::none && !reachable))
    return false;
  tags_.drop_use(static_cast<ProtectionTag>(own->tag));
  tags_.add_use(tag);
  RegionEntry& shown = regions_[(static_cast<std::uint32_t>(handle) - 1) & 0xfffff];
  // A peer that looks meanwhile finds no region, or all of the new one.
  shown.handle.store(0, kRelaxed);
  await_all_copies();
  for (RegionEntry* entry : {own, &shown}) {
    entry->tag = static_cast<std::uint32_t>(tag);
    entry->rights = static_cast<std::uint32_t>(rights);
  }
  shown.handle.store(static_cast<std::uint32_t>(handle), kRelease);
  for (Vi* vi : vis_) {  // they remember the region of their last descriptor
    vi->sends_.forget_region();
    vi->receives_.forget_region();
  }
  return true;
}

void Nic::await_copies(Rank rank) noexcept {
  constexpr std::uint64_t kMostNs = 1'000'000'000;
  constexpr int kSpins = 256;
  constexpr timespec kAWhile{0, 20'000};
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const Peer* const known = peers_[index(rank)].get();
  if (known == nullptr) return;
  const AtomicWord<std::uint64_t>& copies = known->page->copies;
  const std::uint64_t begun = copies.load(kAcquire);
  if (begun % 2 == 0) return;
  const std::uint64_t end = monotonic_ns() + kMostNs;
  for (int looks = 0; copies.load(kAcquire) == begun; ++looks) {
    if (looks < kSpins) continue;
    if (job_.is_lost(rank) || monotonic_ns() > end) return;
    nanosleep(&kAWhile, nullptr);
  }
}

void Nic::await_all_copies() noexcept {
  for (std::uint32_t rank = 0; rank < job_.size(); ++rank) await_copies(Rank{rank});
}

RemotePlace Nic::remote_place(Rank rank, ProtectionTag tag, std::uint64_t address,
                              MemoryHandle handle, std::size_t bytes, Rights rights) noexcept {
  constexpr RemotePlace kRefused{nullptr, 0, descriptor_status::rdma_protection_error};
  const Peer* known = peers_[index(rank)].get();
  const std::uint32_t slot = (static_cast<std::uint32_t>(handle) - 1) & 0xfffff;
  if (known == nullptr || handle == MemoryHandle::none || slot >= known->max_regions)
    return kRefused;
  const Peer& p = *known;
  RegionEntry& entry = p.regions[slot];
  if (entry.handle.load(kAcquire) != static_cast<std::uint32_t>(handle)) return kRefused;
  const std::uint64_t at = address - entry.address;
  if (entry.tag != static_cast<std::uint32_t>(tag) ||
      !includes(static_cast<Rights>(entry.rights), rights) || at > entry.bytes ||
      bytes > entry.bytes - at)
    return kRefused;
  if (entry.in_window != 0) {
    // The table is the peer's: it may say anything.
    const std::size_t window = job_.segment().window_bytes();
    const std::uint64_t offset = load_word(entry.window_offset, kRelaxed);
    if (offset > window || at > window - offset || bytes > window - offset - at) return kRefused;
    return {p.window + offset + at, 0, 0};
  }
  if (!job_.threads_mode() && rank != job_.rank()) return {nullptr, address, 0};
  if (includes(rights, Rights::rdma_write) && !may_write(entry)) return kRefused;
  return {reinterpret_cast<std::byte*>(address), 0, 0};
}

// A source is an address of its process, or an offset in its window with kInWindow. No
// address of a process has that bit.
static constexpr std::uint64_t kInWindow = std::uint64_t{1} << 63;

std::uint64_t Nic::source_of(const std::byte* at, std::size_t bytes) const noexcept {
  const Segment& window = job_.segment();
  if (window.contains(at, bytes)) return kInWindow | static_cast<std::uint64_t>(at - window.base());
  return job_.threads_mode() ? reinterpret_cast<std::uint64_t>(at) : 0;
}

RemotePlace Nic::source_place(Rank rank, std::uint64_t source, std::size_t bytes) noexcept {
  const Peer* const known = peers_[index(rank)].get();
  const std::uint64_t at = source & ~kInWindow;
  const std::size_t window = job_.segment().window_bytes();
  const bool in_window = (source & kInWindow) != 0;
  if (known == nullptr || source == 0 ||
      (in_window ? at > window || bytes > window - at : !job_.threads_mode()))
    return {nullptr, 0, descriptor_status::rdma_protection_error};
  return {in_window ? known->window + at : reinterpret_cast<std::byte*>(at), 0, 0};
}

bool Nic::write_place(Rank rank, const RemotePlace& place, const std::byte* from,
                      std::size_t bytes) noexcept {
  if (place.mapped == nullptr)
    return cross_copy(*peers_[index(rank)], place.owner_address, const_cast<std::byte*>(from),
                      bytes, true);
  copy_bytes(place.mapped, from, bytes);
  return true;
}

bool Nic::read_place(Rank rank, const RemotePlace& place, std::byte* to,
                     std::size_t bytes) noexcept {
  if (place.mapped == nullptr)
    return cross_copy(*peers_[index(rank)], place.owner_address, to, bytes, false);
  copy_bytes(to, place.mapped, bytes);
  return true;
}

bool Nic::cross_copy(Peer& p, std::uint64_t remote, std::byte* local, std::size_t bytes,
                     bool write) noexcept {
  if (job_.threads_mode() || p.pid == getpid()) {
    auto* there = reinterpret_cast<std::byte*>(remote);
    if (bytes != 0) copy_bytes(write ? there : local, write ? local : there, bytes);
    return true;
  }
  while (bytes != 0) {
    const iovec here{local, bytes};
    const iovec there{reinterpret_cast<void*>(remote), bytes};
    const ssize_t n = write ? process_vm_writev(p.pid, &here, 1, &there, 1, 0)
                            : process_vm_readv(p.pid, &here, 1, &there, 1, 0);
    if (n <= 0) {
      cross_error_ = n < 0 ? errno : EFAULT;
      if (cross_memory_works_ &&
          (cross_error_ == EPERM || cross_error_ == ENOSYS || cross_error_ == EACCES)) {
        cross_memory_works_ = false;
        job_.log().write(
            LogLevel::info,
            "process_vm_writev is refused here: larger sends to private memory are copied "
            "through the sender's window");
      }
      return false;
    }
    count(kCrossMemory);
    local += n;
    remote += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

std::byte* Nic::allocate(std::size_t bytes) {
  Segment& segment = job_.segment();
  return segment.base() + segment.allocate(bytes);
}

void Nic::release(std::byte* address) noexcept {
  job_.segment().release(static_cast<std::size_t>(address - job_.segment().base()));
}

// Queues.

std::unique_ptr<via::CompletionQueue> Nic::create_completion_queue(std::size_t capacity) {
  return std::make_unique<CompletionQueue>(*this, capacity);
}

void Nic::check_attributes(const ViAttributes& a) const {
  const auto check = [this](std::uint32_t depth, const char* which) {
    if (depth == 0 || depth > attributes_.max_queue_depth)
      throw Error(errors::bad_attributes, std::errc::invalid_argument,
                  std::string(which) + " depth " + std::to_string(depth) +
                      ": the NIC allows 1 to " + std::to_string(attributes_.max_queue_depth) +
                      " (VIADUCT_SHM_QUEUE_DEPTH)");
  };
  check(a.send_depth, "send");
  check(a.receive_depth, "receive");
  tags_.require(a.tag, "cannot create a VI: ");
  if (a.reliability != Reliability::unreliable && a.reliability != Reliability::delivery &&
      a.reliability != Reliability::reception)
    throw Error(errors::bad_attributes, std::errc::invalid_argument,
                "cannot create a VI: no such reliability level");
}

std::unique_ptr<via::Vi> Nic::create_vi(const ViAttributes& attributes) {
  check_attributes(attributes);
  if (!runs_callback()) left_queues_.clear();
  return std::make_unique<Vi>(*this, attributes, Vi::OwnQueues(*this, attributes));
}

void Nic::add_vi(Vi& vi) {
  constexpr std::size_t kMost = 65536;
  if (vis_.size() == kMost)
    throw Error(errors::too_many_objects, std::errc::no_buffer_space,
                "65536 VIs exist, which is all a NIC can have");
  vi.place_ = vis_.size();
  vis_.push_back(&vi);
  tags_.add_use(vi.attributes_.tag);
}

void Nic::remove_vi(Vi& vi) noexcept {
  vis_[vi.place_] = vis_.back();
  vis_[vi.place_]->place_ = vi.place_;
  vis_.pop_back();
  tags_.drop_use(vi.attributes_.tag);
  std::erase(waiting_vis_, &vi);
  errors_.forget(vi);
}

/// Keeps a queue of a VI that ends where it may still be in use.
void Nic::leave(Owned<CompletionQueue>& queue) noexcept {
  if (queue == nullptr || !runs_callback()) return;
  queue->nothing_ = Status::bad_state;
  left_queues_.push_back(std::move(queue));
}

}  // namespace viaduct::via::shm
