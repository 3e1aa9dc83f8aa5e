#include "runtime/src/page_mapping.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <atomic>
#include <cerrno>
#include <new>

#include "runtime/errors/codes.hpp"
#include "runtime/src/fallocate.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct {
namespace {

constexpr std::uint32_t kVersion = 5;

MappedMemory map_shared(int fd, std::size_t bytes) {
  MappedMemory pages(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), bytes);
  if (!pages)
    throw_errno(errors::system_refused, fmt::format("cannot map the job page of {} bytes", bytes));
  return pages;
}

}  // namespace

PageMapping PageMapping::create(std::uint32_t ranks) {
  PageMapping result;
  // A file beyond the limit would end this process by a signal.
  rlimit limit{};
  const std::size_t wanted = JobPage::bytes_for(ranks);
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < wanted) {
    throw Error(errors::file_size_limit, std::errc::file_too_large,
                fmt::format("the file size limit of {} bytes is less than the {} of the job page: "
                            "raise it (ulimit -f)",
                            limit.rlim_cur, wanted));
  }
  result.file_ = FileDescriptor(::memfd_create("viaduct-job", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!result.file_.is_open()) throw_errno(errors::system_refused, "cannot create the job page");
  // Reserved now, so that a shortage of memory is this error and no SIGBUS later.
  const int problem = ::ftruncate(result.fd(), static_cast<off_t>(wanted)) != 0
                          ? errno
                          : fallocate_whole(result.fd(), 0, 0, wanted);
  if (problem != 0)
    throw Error(errors::memory_short, problem,
                fmt::format("cannot reserve the job page of {} bytes for {} ranks", wanted, ranks));
  // A rank that shortened the file would turn the launcher's next access into SIGBUS.
  if (::fcntl(result.fd(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    throw_errno(errors::system_refused, "cannot fix the size of the job page");
  result.shape_ = {ranks, 1};
  result.pages_ = map_shared(result.fd(), wanted);
  auto* const page = new (result.pages_.get()) JobPage{};
  page->version = kVersion;
  page->size = ranks;
  page->local_size = ranks;
  page->hosts = 1;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    auto* const record = new (&page->record(Rank{i})) RankRecord{};
    record->waits_for_peer.store(RankRecord::kNoPeer, std::memory_order_relaxed);
  }
  page->magic = JobPage::kMagic;
  return result;
}

PageMapping PageMapping::attach(int fd) {
  PageMapping result;
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    throw_errno(errors::not_from_launcher, fmt::format("descriptor {} is not the job page", fd));
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < sizeof(JobPage)) {
    throw Error(errors::not_from_launcher, std::errc::bad_message,
                fmt::format("descriptor {} has {} bytes: it is not the job page", fd, bytes));
  }
  result.pages_ = map_shared(fd, bytes);
  result.shape_ = {result->size, result->hosts};
  if (result->magic != JobPage::kMagic || result->version != kVersion ||
      JobPage::bytes_for(result.shape_.ranks) != bytes || result.shape_.hosts == 0) {
    throw Error(errors::versions_differ, std::errc::bad_message,
                "the job page is not of this library's version: use the viaduct-run that came with "
                "the library that "
                "the program was built with");
  }
  return result;
}

void record_loss(JobPage& page, const PageShape& shape, Rank rank, RankState state,
                 std::int32_t cause) noexcept {
  RankRecord& record = page.record(rank);
  record.cause.store(cause, std::memory_order_relaxed);
  record.state.store(state, std::memory_order_release);
  std::uint32_t none = 0;
  page.first_lost.compare_exchange_strong(none, index(rank) + 1, std::memory_order_acq_rel);
  page.life_epoch.fetch_add(1, std::memory_order_acq_rel);
  for (std::uint32_t i = 0; i < shape.ranks; ++i) {
    RankRecord& other = page.record(Rank{i});
    const RankState its = other.state.load(std::memory_order_acquire);
    // One that has left may have a process that goes on.
    if (its != RankState::finalized && its != RankState::killed) ring_doorbell(other);
  }
}

namespace {

/// Sequentially consistent, as a pair with the store before it, which is out before the flags are
/// read. The sleeper has the counterpart between raising its flag and its last look.
void wake_sleepers(JobPage& page, const PageShape& shape) noexcept {
  for (std::uint32_t i = 0; i < shape.ranks; ++i) {
    RankRecord& other = page.record(Rank{i});
    if (other.sleeping.load(std::memory_order_seq_cst) != 0) ring_doorbell(other);
  }
}

/// On one host no rank arrives at a round before the previous one is over: a count is enough.
bool is_last_by_count(JobPage& page, const PageShape& shape, std::uint32_t ticket) noexcept {
  return page.barrier_arrivals.fetch_add(1, std::memory_order_seq_cst) + 1 == ticket * shape.ranks;
}

/// News of another host's ranks come in one order for each rank, and in any order between them: one
/// may be at the next round before another is known to be at this one. The tickets tell.
bool is_last_by_tickets(JobPage& page, const PageShape& shape, std::uint32_t ticket) noexcept {
  for (std::uint32_t i = 0; i < shape.ranks; ++i) {
    const auto& theirs = page.record(Rank{i}).barrier_ticket;
    if (static_cast<std::int32_t>(theirs.load(std::memory_order_seq_cst) - ticket) < 0)
      return false;
  }
  return true;
}

}  // namespace

void arrive_at_barrier(JobPage& page, const PageShape& shape, Rank rank,
                       std::uint32_t ticket) noexcept {
  page.record(rank).barrier_ticket.store(ticket, std::memory_order_seq_cst);
  const bool last = shape.hosts == 1 ? is_last_by_count(page, shape, ticket)
                                     : is_last_by_tickets(page, shape, ticket);
  if (last) page.barrier_round.store(ticket, std::memory_order_seq_cst);
  if (last || page.life_epoch.load(std::memory_order_seq_cst) != 0) wake_sleepers(page, shape);
}

void announce_end(JobPage& page, const PageShape& shape, Rank rank) noexcept {
  page.record(rank).finalizing.store(1, std::memory_order_release);
  page.finalizing.fetch_add(1, std::memory_order_seq_cst);
  wake_sleepers(page, shape);
}

void note_port(JobPage& page, Rank rank, bool down) noexcept {
  auto& ports = page.record(rank).ports_down;
  if (down)
    ports.fetch_add(1, std::memory_order_relaxed);
  else
    ports.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace viaduct
