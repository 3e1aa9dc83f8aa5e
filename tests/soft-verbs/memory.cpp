/// Protection domains, regions, and the device's accesses to the program's memory.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>

#include "tests/soft-verbs/context.hpp"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace soft_verbs {

namespace {

#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;
constexpr int MADV_POPULATE_WRITE = 23;
#endif

constexpr int kKnownAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// As the kernel pins pages: all of them are there, with these rights. An old kernel cannot tell.
bool is_mapped(std::uint64_t address, std::size_t bytes, bool writable) {
  static const auto kPage = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t start = address & ~(kPage - 1);
  const std::uint64_t end = (address + bytes + kPage - 1) & ~(kPage - 1);
  const int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(reinterpret_cast<void*>(start), end - start, advice) == 0) return true;
  alignas(8) char known = 0;
  const auto own = reinterpret_cast<std::uint64_t>(&known) & ~(kPage - 1);
  return madvise(reinterpret_cast<void*>(own), kPage, advice) != 0;
}

Region* register_memory(ibv_pd* domain, void* address, std::size_t bytes, int access) {
  Context& context = context_of(domain->context);
  const auto start = reinterpret_cast<std::uint64_t>(address);
  constexpr int kNeedLocal = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  const bool writable = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  if ((access & ~kKnownAccess) != 0 || ((access & kNeedLocal) != 0 && !writable) || bytes == 0 ||
      start + bytes < start) {
    errno = EINVAL;
    return nullptr;
  }
  if (!is_mapped(start, bytes, writable)) {
    errno = EFAULT;
    return nullptr;
  }
  if (is_refused()) return nullptr;
  auto* const region = new Region;
  region->context = domain->context;
  region->pd = domain;
  region->addr = address;
  region->length = bytes;
  region->access = access;
  const std::lock_guard lock(context.mutex);
  if (context.next_key == 0) context.next_key = static_cast<std::uint32_t>(context.random());
  do {
    context.next_key += 0x9e3779b1;  // odd: a key comes again after all others
  } while (context.next_key == 0 || context.regions.contains(context.next_key));
  region->lkey = region->rkey = region->handle = context.next_key;
  context.regions.emplace(region->lkey, region);
  ++static_cast<Domain*>(domain)->uses;
  ++control().regions;
  return region;
}

constexpr std::size_t kTornBytes = 64;  // bytes of a write; the rest comes in one piece

/// Of @p bytes bytes, in pieces as large as @p order says, which counts the pieces.
template <class Order>
void write_pieces(std::uint64_t to, const std::byte* from, std::size_t bytes, std::size_t piece,
                  Order&& order) {
  const std::size_t torn = std::min(bytes, kTornBytes);
  const std::size_t pieces = (torn + piece - 1) / piece;
  copy_unseen(reinterpret_cast<void*>(to + torn), from + torn, bytes - torn);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t at = piece * order(i, pieces);
    copy_unseen(reinterpret_cast<void*>(to + at), from + at, std::min(piece, torn - at));
    if (i % 2 == 0) std::this_thread::yield();
  }
}

void write_torn(Context& context, std::uint64_t to, const std::byte* from, std::size_t bytes) {
  const std::size_t piece = std::size_t{1} << context.random() % 3;
  const bool forward = context.random() % 2 == 0;
  write_pieces(to, from, bytes, piece, [forward](std::size_t i, std::size_t pieces) {
    return forward ? i : pieces - 1 - i;
  });
}

void write_scattered(Context& context, std::uint64_t to, const std::byte* from, std::size_t bytes) {
  std::array<std::uint8_t, kTornBytes> order{};
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::shuffle(order.begin(),
               order.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, kTornBytes)),
               context.random);
  write_pieces(to, from, bytes, 1,
               [&order](std::size_t i, std::size_t) { return std::size_t{order[i]}; });
}

}  // namespace

/// No sanitizer knows this instruction: to it, a device's accesses are no accesses at all.
void copy_unseen(void* to, const void* from, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

Region* find_region(Context& context, const ibv_pd* domain, std::uint32_t key,
                    std::uint64_t address, std::uint64_t bytes, int access) noexcept {
  const auto found = context.regions.find(key);
  if (found == context.regions.end()) return nullptr;
  Region* const region = found->second;
  const std::uint64_t offset = address - reinterpret_cast<std::uint64_t>(region->addr);
  const bool covered = offset <= region->length && bytes <= region->length - offset;
  return covered && region->pd == domain && (region->access & access) == access ? region : nullptr;
}

void write_memory(Context& context, std::uint64_t to, const std::byte* from, std::size_t bytes) {
  const bool scattered = strikes(context, kScattered);
  if (!scattered && !strikes(context, kTorn))
    return copy_unseen(reinterpret_cast<void*>(to), from, bytes);
  control().count(kTornWrites);
  scattered ? write_scattered(context, to, from, bytes) : write_torn(context, to, from, bytes);
}

std::uint64_t swap_memory(std::uint64_t to, std::uint64_t compare, std::uint64_t value) noexcept {
  asm volatile("lock cmpxchgq %2, (%1)" : "+a"(compare) : "r"(to), "r"(value) : "memory", "cc");
  return compare;
}

std::uint64_t add_memory(std::uint64_t to, std::uint64_t value) noexcept {
  asm volatile("lock xaddq %0, (%1)" : "+r"(value) : "r"(to) : "memory", "cc");
  return value;
}

}  // namespace soft_verbs

using namespace soft_verbs;

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* shown) {
  Context& context = context_of(shown);
  if (is_refused()) return nullptr;
  if (const int error = start(context); error != 0) {
    errno = error;
    return nullptr;
  }
  auto* const domain = new Domain{};
  domain->context = shown;
  const std::lock_guard lock(context.mutex);
  ++context.objects;
  ++control().objects;
  return domain;
}

int ibv_dealloc_pd(ibv_pd* shown) {
  auto* const domain = static_cast<Domain*>(shown);
  Context& context = context_of(shown->context);
  const std::lock_guard lock(context.mutex);
  if (domain->uses != 0) return EBUSY;
  --context.objects;
  --control().objects;
  delete domain;
  return 0;
}

ibv_mr* ibv_reg_mr(ibv_pd* domain, void* address, size_t bytes, int access) {
  return register_memory(domain, address, bytes, access);
}

/// Optional rights are without effect here.
ibv_mr* ibv_reg_mr_iova2(ibv_pd* domain, void* address, size_t bytes, uint64_t as,
                         unsigned int access) {
  if (as == reinterpret_cast<std::uint64_t>(address))
    return register_memory(domain, address, bytes,
                           static_cast<int>(access & ~unsigned{IBV_ACCESS_OPTIONAL_RANGE}));
  errno = EOPNOTSUPP;
  return nullptr;
}

ibv_mr* ibv_reg_mr_iova(ibv_pd* domain, void* address, size_t bytes, uint64_t as, int access) {
  return ibv_reg_mr_iova2(domain, address, bytes, as, static_cast<unsigned int>(access));
}

int ibv_dereg_mr(ibv_mr* shown) {
  auto* const region = static_cast<Region*>(shown);
  Context& context = context_of(shown->context);
  const std::lock_guard lock(context.mutex);
  if (context.regions.erase(region->lkey) == 0) return EINVAL;
  --control().regions;
  --static_cast<Domain*>(region->pd)->uses;
  delete region;
  return 0;
}

}  // extern "C"
