#include <sys/mman.h>
#include <algorithm>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "tests/splitc/model_memory.hpp"
#include "tests/splitc/model_parts.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::global_ptr;

constexpr std::size_t kMost = 1 << 20;
constexpr std::size_t kSlack = 64;  // blocks begin at odd places
constexpr std::uint32_t kWays = 4;
constexpr std::uint32_t kKindsOfMemory = 3;

std::byte pattern(std::uint64_t key, std::size_t i) {
  return static_cast<std::byte>(((i + 1) * 0x9E3779B97F4A7C15ULL ^ key * 0xD1B54A32D192ED03ULL) >>
                                37);
}
void fill(std::byte* to, std::size_t bytes, std::uint64_t key) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = pattern(key, i);
}

/// What process @p from sends in one round, and where to.
struct Transfer {
  std::uint32_t to;
  std::uint32_t way;
  std::uint32_t source;  // kind of memory
  std::uint32_t target;
  std::size_t offset;
  std::size_t bytes;
  std::uint64_t key;
};

/// In one round each process is the target of one other.
Transfer transfer_of(const Place& place, std::uint32_t from) {
  const auto procs = static_cast<std::uint32_t>(PROCS);
  Random common(mixed(place.seed, place.phase));
  Random random(mixed(place.seed, place.phase, from + 1));
  Transfer t;
  t.to = (from + common.below(procs)) % procs;
  t.way = random.below(kWays);
  t.source = random.below(kKindsOfMemory);
  t.target = random.below(kKindsOfMemory);
  t.offset = random.below(kSlack);
  const std::uint64_t magnitude = std::uint64_t{1} << random.below(21);
  t.bytes = std::min(kMost, magnitude + random.below(magnitude));
  t.key = random.next();
  return t;
}

/// Buffers in memory that peers reach by different ways.
class Buffers {
 public:
  Buffers()
      : heap_(kMost + kSlack),
        alike_(splitc::all_malloc<std::byte>(kMost + kSlack)),
        mapped_(static_cast<std::byte*>(mmap(nullptr, kMost + kSlack, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Buffers() {
    munmap(mapped_, kMost + kSlack);
    if (std::uncaught_exceptions() == 0) splitc::all_free(alike_);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  [[nodiscard]] std::byte* at(std::uint32_t kind) noexcept {
    return kind == 0 ? heap_.data() : kind == 1 ? alike_ : mapped_;
  }

 private:
  std::vector<std::byte> heap_;
  std::byte* alike_;
  std::byte* mapped_;
};

class Blocks {
 public:
  explicit Blocks(std::uint64_t seed) : place_{seed, 2000} {
    for (std::uint32_t kind = 0; kind < kKindsOfMemory; ++kind) {
      const auto pointers = splitc::all_gather(splitc::toglobal(targets_.at(kind)));
      targets_of_.push_back(pointers);
    }
  }

  void run(std::uint32_t rounds) {
    for (std::uint32_t i = 0; i < rounds; ++i, ++place_.phase) one_round();
  }

 private:
  void one_round() {
    const auto me = static_cast<std::uint32_t>(MYPROC);
    Transfer incoming{};
    for (std::uint32_t p = 0; p < static_cast<std::uint32_t>(PROCS); ++p)
      if (const Transfer t = transfer_of(place_, p); t.to == me) incoming = t;
    std::byte* const here = targets_.at(incoming.target) + incoming.offset;
    std::fill_n(here, incoming.bytes, std::byte{0xEE});
    splitc::barrier();
    const Transfer out = transfer_of(place_, me);
    send(out);
    splitc::sync();
    if (incoming.way == 2) splitc::store_sync(incoming.bytes);
    splitc::barrier();
    std::vector<std::byte> wanted(std::max(incoming.bytes, out.bytes));
    fill(wanted.data(), incoming.bytes, incoming.key);
    expect_bytes(place_, describe(incoming) + " to this process", here, wanted.data(),
                 incoming.bytes);
    read_back(out, wanted);
    splitc::barrier();
  }

  void send(const Transfer& t) {
    std::byte* const from = sources_.at(t.source) + (t.offset * 7) % kSlack;
    fill(from, t.bytes, t.key);
    const auto to = targets_of_[t.target][t.to] + static_cast<std::ptrdiff_t>(t.offset);
    switch (t.way) {
      case 0:
        return splitc::bulk_write(to, from, t.bytes);
      case 1:
        (void)splitc::bulk_put(to, from, t.bytes);
        break;
      case 2:
        splitc::bulk_store(to, from, t.bytes);
        break;
      default:
        splitc::bulk_store_now(to, from, t.bytes);
        break;
    }
    fill(from, t.bytes, ~t.key);  // it may be changed when the call returns
  }

  void read_back(const Transfer& t, std::vector<std::byte>& wanted) {
    fill(wanted.data(), t.bytes, t.key);
    std::byte* const to = sources_.at(t.target) + t.offset / 2;
    const auto from = targets_of_[t.target][t.to] + static_cast<std::ptrdiff_t>(t.offset);
    std::fill_n(to, t.bytes, std::byte{0xDD});
    if (t.way % 2 == 0) {
      splitc::bulk_read(to, from, t.bytes);
    } else {
      splitc::wait(splitc::bulk_get(to, from, t.bytes));
    }
    expect_bytes(place_, describe(t) + " read back", to, wanted.data(), t.bytes);
    splitc::sync();
  }

  static std::string describe(const Transfer& t) {
    constexpr std::array<const char*, kWays> kNames{"bulk_write", "bulk_put", "bulk_store",
                                                    "bulk_store_now"};
    constexpr std::array<const char*, kKindsOfMemory> kMemory{"heap", "all_malloc", "mmap"};
    return fmt::format("{} of {} bytes from {} to {} of process {}, {} bytes into it",
                       kNames[t.way], t.bytes, kMemory[t.source], kMemory[t.target], t.to,
                       t.offset);
  }

  Place place_;
  Buffers targets_;
  Buffers sources_;
  std::vector<std::vector<global_ptr<std::byte>>> targets_of_;
};

}  // namespace

void run_blocks(std::uint64_t seed) { Blocks(seed).run(24); }

}  // namespace viaduct::splitc_test
