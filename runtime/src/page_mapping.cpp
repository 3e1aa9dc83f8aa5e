#include "runtime/src/page_mapping.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <new>

#include "runtime/error.hpp"

namespace viaduct {
namespace {

constexpr std::uint32_t kVersion = 4;

void* map_shared(int fd, std::size_t bytes) {
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) throw_errno(fmt::format("cannot map the job page of {} bytes", bytes));
  return at;
}

}  // namespace

PageMapping PageMapping::create(std::uint32_t ranks) {
  PageMapping result;
  result.fd_ = ::memfd_create("viaduct-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (result.fd_ < 0) throw_errno("cannot create the job page");
  result.bytes_ = JobPage::bytes_for(ranks);
  // Reserved now, so that a shortage of memory is this error and no SIGBUS later.
  if (::ftruncate(result.fd_, static_cast<off_t>(result.bytes_)) != 0 ||
      ::fallocate(result.fd_, 0, 0, static_cast<off_t>(result.bytes_)) != 0) {
    throw_errno(
        fmt::format("cannot reserve the job page of {} bytes for {} ranks", result.bytes_, ranks));
  }
  result.page_ = new (map_shared(result.fd_, result.bytes_)) JobPage{};
  result.page_->version = kVersion;
  result.page_->size = ranks;
  result.page_->local_size = ranks;
  result.page_->hosts = 1;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    auto* const record = new (&result.page_->record(Rank{i})) RankRecord{};
    record->waits_for_peer.store(RankRecord::kNoPeer, std::memory_order_relaxed);
  }
  result.page_->magic = JobPage::kMagic;
  return result;
}

PageMapping PageMapping::attach(int fd) {
  PageMapping result;
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw_errno(fmt::format("descriptor {} is not the job page", fd));
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < sizeof(JobPage)) {
    throw Error(std::errc::bad_message,
                fmt::format("descriptor {} has {} bytes: it is not the job page", fd, bytes));
  }
  result.bytes_ = bytes;
  result.page_ = static_cast<JobPage*>(map_shared(fd, bytes));
  if (result.page_->magic != JobPage::kMagic || result.page_->version != kVersion ||
      JobPage::bytes_for(result.page_->size) != bytes) {
    throw Error(std::errc::bad_message,
                "the job page is not of this library's version: use the viaduct-run that came with "
                "the library that "
                "the program was built with");
  }
  return result;
}

PageMapping::~PageMapping() {
  if (page_ != nullptr) ::munmap(page_, bytes_);
  if (fd_ >= 0) ::close(fd_);
}

void record_loss(JobPage& page, Rank rank, RankState state, std::int32_t cause) noexcept {
  RankRecord& record = page.record(rank);
  record.cause.store(cause, std::memory_order_relaxed);
  record.state.store(state, std::memory_order_release);
  std::uint32_t none = 0;
  page.first_lost.compare_exchange_strong(none, index(rank) + 1, std::memory_order_acq_rel);
  page.life_epoch.fetch_add(1, std::memory_order_acq_rel);
  for (std::uint32_t i = 0; i < page.size; ++i) ring_doorbell(page.record(Rank{i}));
}

namespace {

/// Sequentially consistent, as a pair with the store before it, which is out before the flags are
/// read. The sleeper has the counterpart between raising its flag and its last look.
void wake_sleepers(JobPage& page) noexcept {
  for (std::uint32_t i = 0; i < page.size; ++i) {
    RankRecord& other = page.record(Rank{i});
    if (other.sleeping.load(std::memory_order_seq_cst) != 0) ring_doorbell(other);
  }
}

/// On one host nobody arrives at a round before the one before it is over, so a count is enough.
bool is_last_by_count(JobPage& page, std::uint32_t ticket) noexcept {
  return page.barrier_arrivals.fetch_add(1, std::memory_order_seq_cst) + 1 == ticket * page.size;
}

/// News of another host's ranks come in one order for each rank, and in any order between them: one
/// may be at the next round before another is known to be at this one. The tickets tell.
bool is_last_by_tickets(JobPage& page, std::uint32_t ticket) noexcept {
  for (std::uint32_t i = 0; i < page.size; ++i) {
    const auto& theirs = page.record(Rank{i}).barrier_ticket;
    if (static_cast<std::int32_t>(theirs.load(std::memory_order_seq_cst) - ticket) < 0)
      return false;
  }
  return true;
}

}  // namespace

void arrive_at_barrier(JobPage& page, Rank rank, std::uint32_t ticket) noexcept {
  page.record(rank).barrier_ticket.store(ticket, std::memory_order_seq_cst);
  const bool last =
      page.hosts == 1 ? is_last_by_count(page, ticket) : is_last_by_tickets(page, ticket);
  if (last) page.barrier_round.store(ticket, std::memory_order_seq_cst);
  if (last || page.life_epoch.load(std::memory_order_seq_cst) != 0) wake_sleepers(page);
}

void announce_end(JobPage& page, Rank rank) noexcept {
  page.record(rank).finalizing.store(1, std::memory_order_release);
  page.finalizing.fetch_add(1, std::memory_order_seq_cst);
  wake_sleepers(page);
}

void note_port(JobPage& page, Rank rank, bool down) noexcept {
  auto& ports = page.record(rank).ports_down;
  if (down)
    ports.fetch_add(1, std::memory_order_relaxed);
  else
    ports.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace viaduct
