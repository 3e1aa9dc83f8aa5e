/// detail::Memory by itself: what of a process the others find, and that what they find is it.

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/splitc/memory_rig.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/memory_file.hpp"

namespace {

using viaduct::Job;
using viaduct::Rank;
using viaduct::splitc::Settings;
using viaduct::splitc::detail::AlignedRegions;
using viaduct::splitc::detail::heap_of_program;
using viaduct::splitc::detail::kMaxProcesses;
using viaduct::splitc::detail::Memory;
using viaduct::splitc_test::error_of;
using viaduct::splitc_test::require;
using viaduct::splitc_test::to_everybody;

constexpr std::size_t kBytes = 10'000;
constexpr std::uint32_t kMaxRanks = 64;
constexpr std::size_t kPage = 4096;

/// Something to find; rank @p rank's, of one kind.
struct Object {
  std::array<std::uint8_t, kBytes> bytes;
  void fill(std::uint32_t rank, std::uint32_t kind) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(rank * 31 + kind * 7 + i * 13);
  }
  [[nodiscard]] bool is(std::uint32_t rank, std::uint32_t kind) const {
    Object other{};
    other.fill(rank, kind);
    return bytes == other.bytes;
  }
};

// Ranks may be threads: each has its own element.
Object g_zeroed[kMaxRanks];
Object g_initialised[kMaxRanks] = {{{{1, 2, 3}}}};
Object g_untouched[1000];  // 10 MB of zeros that nobody has touched before they are shared
const std::array<int, 4> g_constant{1, 2, 3, 4};
std::vector<int>* g_before_main = new std::vector<int>(1000, 7);  // private memory, for ever

enum Kind : std::uint32_t {
  kAlike,
  kOwn,
  kHeap,
  kHugeHeap,
  kZeroed,
  kInitialised,
  kUntouched,
  kKinds
};

struct Rig {
  Job& job;
  Memory& memory;
  Settings settings;
  std::uint32_t me = index(job.rank());
  std::array<Object*, kKinds> mine{};
  std::vector<std::array<std::uint64_t, kKinds>> all{};
  std::unique_ptr<Object> heap = std::make_unique<Object>();
  std::unique_ptr<Object[]> huge{new Object[10'000]};  // 100 MB: more than one piece of the heap

  [[nodiscard]] bool shares_heap() const {
    return job.threads_mode() || (settings.heap == "shared" && heap_of_program() != nullptr);
  }
};

void make_objects(Rig& rig) {
  const auto here = [&](std::uint64_t address) {
    return static_cast<Object*>(rig.memory.localize(address));
  };
  const std::uint64_t alike = rig.memory.allocate_alike(sizeof(Object));
  const auto everywhere = to_everybody(rig.job, alike);
  for (const std::uint64_t address : everywhere) require(address == alike, "not alike");
  rig.mine = {here(alike),
              here(rig.memory.allocate_own(sizeof(Object))),
              rig.heap.get(),
              &rig.huge[9'999],
              &g_zeroed[rig.me],
              &g_initialised[rig.me],
              &g_untouched[500 + rig.me]};
  require(rig.mine[kInitialised]->bytes[2] == (rig.me == 0 ? 3 : 0), "initialised data is lost");
  std::array<std::uint64_t, kKinds> addresses{};
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    addresses[kind] = rig.memory.globalize(rig.mine[kind]);
    require(rig.memory.localize(addresses[kind]) == rig.mine[kind], "localize is no inverse");
    rig.mine[kind]->fill(rig.me, kind);
  }
  rig.all = to_everybody(rig.job, addresses);
}

/// Everybody finds everybody's objects, reads what their owner wrote, and writes for the owner.
void find_all(Rig& rig, bool statics) {
  for (std::uint32_t peer = 0; peer < rig.job.size(); ++peer) {
    for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
      const bool is_static = kind == kZeroed || kind == kInitialised || kind == kUntouched;
      const bool is_heap = kind == kHeap || kind == kHugeHeap;
      const bool shared = (!is_static || statics) && (!is_heap || rig.shares_heap());
      if (peer == rig.me)
        require(rig.memory.is_shared(rig.mine[kind], kBytes) == shared,
                fmt::format("kind {} is {} shared", kind, shared ? "not" : ""));
      auto* at = rig.memory.find(peer, rig.all[peer][kind], kBytes);
      require((at != nullptr) == (shared || peer == rig.me),
              fmt::format("kind {} of rank {} found: {}", kind, peer, at != nullptr));
      if (at == nullptr) continue;
      require(reinterpret_cast<Object*>(at)->is(peer, kind),
              fmt::format("kind {} of rank {} is not what it wrote", kind, peer));
    }
  }
  rig.job.bootstrap().fence();
  const std::uint32_t next = (rig.me + 1) % rig.job.size();
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    auto* at = rig.memory.find(next, rig.all[next][kind], kBytes);
    if (at != nullptr) reinterpret_cast<Object*>(at)->fill(rig.me + 100, kind);
  }
  rig.job.bootstrap().fence();
  const std::uint32_t previous = (rig.me + rig.job.size() - 1) % rig.job.size();
  for (std::uint32_t kind = 0; kind < kKinds; ++kind) {
    const bool written = rig.memory.find(next, rig.all[next][kind], kBytes) != nullptr;
    require(rig.mine[kind]->is(written ? previous + 100 : rig.me, kind),
            fmt::format("kind {}: what another rank wrote is not here", kind));
  }
}

/// The view that operations use is the same memory.
void view_all(Rig& rig) {
  for (std::uint32_t peer = 0; peer < rig.job.size(); ++peer) {
    const auto view = rig.memory.view_of(peer);
    require(view.bytes != 0, "no view");
    const std::uint64_t word = viaduct::splitc::detail::make_word(peer, rig.all[peer][kAlike]);
    const std::uint64_t at = word - view.first;
    require(at < view.bytes, "spread memory is not in the view");
    require(view.base + at == rig.memory.find(peer, rig.all[peer][kAlike], 1),
            "not the same place");
    // The last byte of the region may be followed by the rest of a word.
    const std::uint64_t last = viaduct::splitc::detail::address_of(view.first) + view.bytes - 1;
    require(rig.memory.find(peer, last, 1) != nullptr, "the region ends early");
    require(peer == rig.me || rig.memory.find(peer, last, 2) == nullptr, "the region ends late");
    std::uint64_t crossing = 0;
    std::memcpy(&crossing, view.base + view.bytes - 1, sizeof crossing);
  }
}

/// Aligned regions are the memory that the other ways find, at one place in all processes.
void aligned_all(Rig& rig, const AlignedRegions& aligned) {
  const auto everywhere = to_everybody(rig.job, aligned.bytes);
  for (const std::size_t bytes : everywhere)
    require(bytes == aligned.bytes, "the processes do not agree on aligned regions");
  require(!rig.job.threads_mode() || aligned.bytes == 0, "threads have aligned regions");
  if (aligned.bytes == 0) return;
  for (std::uint32_t peer = 0; peer < rig.job.size(); ++peer) {
    const std::uint64_t address = rig.all[peer][kAlike];
    const std::uint64_t at = address - aligned.first;
    require(at < aligned.bytes, "spread memory is not in the region");
    auto* const place =
        reinterpret_cast<Object*>(aligned.place + (std::uint64_t{peer} << aligned.shift) + at);
    require(
        peer == rig.me || rig.memory.find(peer, address, 1) == reinterpret_cast<std::byte*>(place),
        "another place is found");
    require(std::memcmp(place, rig.memory.find(peer, address, kBytes), kBytes) == 0,
            "the aligned region has other bytes");
  }
}

/// What is nobody's to reach stays so.
void find_nothing(Rig& rig) {
  if (rig.job.threads_mode() || rig.job.size() == 1) return;
  int on_stack = 0;
  thread_local int of_thread = 0;
  void* const mapped =
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::uint32_t peer = (rig.me + 1) % rig.job.size();
  for (const void* local :
       {static_cast<const void*>(&on_stack), static_cast<const void*>(&of_thread),
        static_cast<const void*>(mapped), static_cast<const void*>(g_constant.data()),
        static_cast<const void*>(g_before_main->data()),
        reinterpret_cast<const void*>(&std::printf)}) {
    const std::uint64_t address = rig.memory.globalize(local);
    require(rig.memory.localize(address) == local, "localize is no inverse");
    require(rig.memory.find(peer, address, 4) == nullptr, "found what is not shared");
    require(!rig.memory.is_shared(local, 4), "shared what is not");
  }
  ::munmap(mapped, kPage);
  require(rig.memory.find(peer, 8, 8) == nullptr, "found address 8");
  require(rig.memory.find(peer, rig.all[peer][kAlike], ~std::size_t{0} - 5) == nullptr,
          "found more than there is");
}

/// Pages that the file @p fd takes, reserved or written.
[[nodiscard]] std::size_t pages_of(int fd) {
  struct stat status {};
  require(::fstat(fd, &status) == 0, "fstat");
  return static_cast<std::size_t>(status.st_blocks) * 512 / kPage;
}

/// How many of the pages that lie wholly in the range have been written and are kept.
[[nodiscard]] std::size_t resident_pages(const void* from, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t first = viaduct::round_up(address, kPage);
  const std::uintptr_t last = viaduct::round_down(address + bytes, kPage);
  std::vector<unsigned char> pages((last - first) / kPage);
  require(::mincore(reinterpret_cast<void*>(first), last - first, pages.data()) == 0, "mincore");
  return static_cast<std::size_t>(std::count_if(
      pages.begin(), pages.end(), [](unsigned char page) { return (page & 1U) != 0; }));
}

/// What is given back is zero when it comes again, and its pages have gone back to the system.
void reuse(Rig& rig, bool own) {
  constexpr std::size_t kLarge = 40 * kPage;
  Memory& memory = rig.memory;
  const auto allocate = [&] {
    return own ? memory.allocate_own(kLarge) : memory.allocate_alike(kLarge);
  };
  viaduct::FileDescriptor file = rig.job.bootstrap().fetch_fd(rig.job.rank(), "splitc.memory");
  const std::size_t before = pages_of(file.get());
  const std::uint64_t first = allocate();
  require(pages_of(file.get()) >= before + 39, "pages are not reserved");
  file.reset();
  auto* const at = static_cast<unsigned char*>(memory.localize(first));
  require(memory.bytes_at(first) == kLarge && memory.bytes_at(first + 128) == 0, "bytes_at");
  std::memset(at, 0x5a, kLarge);
  if (own) {
    require(memory.owner_of(first) == rig.me, "owner_of");
    require(memory.begin_release_own(first + 128) == 0, "released what was not allocated");
    require(memory.begin_release_own(first) == kLarge, "begin_release_own");
    require(memory.begin_release_own(first) == 0, "released twice");
    memory.clear(first, kLarge);
    memory.release_own(first);
  } else {
    require(memory.owner_of(first) == kMaxProcesses, "in nobody's slice");
    memory.release_alike(first);
  }
  require(memory.bytes_at(first) == 0, "still there");
  require(resident_pages(at, kLarge) == 0, "the pages have not gone back");
  require(allocate() == first, "not the same place again");
  for (std::size_t i = 0; i < kLarge; ++i) require(at[i] == 0, "not zeroed");
}

/// A device that has registered a chunk goes on with its pages: what is freed there is zeroed, and
/// the pages stay. Around the chunk they go back as ever.
void keep_chunk(Rig& rig) {
  constexpr std::size_t kLarge = 3 * Memory::kChunkBytes;
  Memory& memory = rig.memory;
  const std::uint64_t first = memory.allocate_own(kLarge);
  auto* const at = static_cast<unsigned char*>(memory.localize(first));
  const auto chunk = memory.chunk_at(first + kLarge / 2);
  const auto before = static_cast<std::size_t>(reinterpret_cast<unsigned char*>(chunk.begin) - at);
  require(chunk.bytes == Memory::kChunkBytes && before < kLarge - chunk.bytes, "not a chunk");
  require(memory.chunk_at(first + kLarge / 2 + 1).begin == chunk.begin, "another chunk");
  require(memory.keep_chunk(chunk), "the chunk is not kept");
  std::memset(at, 0x5a, kLarge);
  require(memory.begin_release_own(first) == kLarge, "begin_release_own");
  memory.clear(first, kLarge);
  memory.release_own(first);
  require(resident_pages(chunk.begin, chunk.bytes) == chunk.bytes / kPage, "a page has gone");
  require(resident_pages(at, before) == 0, "the pages before it have not gone back");
  require(memory.allocate_own(kLarge) == first, "not the same place again");
  for (std::size_t i = 0; i < kLarge; ++i) require(at[i] == 0, "not zeroed");
  require(memory.chunk_at(8).bytes == 0, "a chunk where nothing is");
}

/// Others' slices, and the part that all allocate alike, do not overlap, whoever takes how much.
void slices_do_not_overlap(Rig& rig) {
  const std::uint64_t own = rig.memory.allocate_own(1);
  const auto all = to_everybody(rig.job, own);
  for (std::uint32_t r = 0; r < rig.job.size(); ++r) {
    require(rig.memory.owner_of(all[r]) == r, "owner_of a peer's");
    require(all[r] % 128 == 0, "not aligned");
  }
  require(rig.memory.owner_of(0) == kMaxProcesses, "owner_of(0)");
  require(rig.memory.owner_of(~std::uint64_t{0} >> 17) == kMaxProcesses,
          "owner_of the last address");
}

void clear_edges(Rig& rig) {
  const std::uint64_t address = rig.memory.allocate_alike(4 * kPage);
  auto* const at = static_cast<unsigned char*>(rig.memory.localize(address));
  std::memset(at, 1, 4 * kPage);
  rig.memory.clear(address + 100, 3 * kPage);
  for (std::size_t i = 0; i < 4 * kPage; ++i)
    require(at[i] == (i >= 100 && i < 100 + 3 * kPage ? 0 : 1), "cleared too little or too much");
}

/// Threads that come later allocate in the region too; what goes through the heap stays whole.
void use_heap(Rig& rig) {
  const auto scribble = [&](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::vector<unsigned char>> held(50);
    for (int step = 0; step < 3000; ++step) {
      auto& block = held[random() % held.size()];
      for (const unsigned char byte : block)
        if (byte != static_cast<unsigned char>(block.size())) throw viaduct::splitc_test::Failed{};
      const std::size_t bytes = random() % (random() % 20 == 0 ? 300'000 : 3000);
      block = std::vector<unsigned char>(bytes, static_cast<unsigned char>(bytes));
    }
  };
  scribble(rig.me);
  if (rig.job.threads_mode()) return;
  std::atomic<int> shared{0};
  std::thread other([&] {
    const auto block = std::make_unique<Object>();
    shared = rig.memory.is_shared(block.get(), kBytes) ? 1 : 0;
    scribble(rig.me + 1000);
  });
  scribble(rig.me + 2000);
  other.join();
  require((shared == 1) == rig.shares_heap(), "the memory of another thread");
}

/// What a thread counts in static data, and what it has counted elsewhere.
struct alignas(64) Written {
  volatile std::uint64_t of_all = 0;
  std::uint64_t of_thread = 0;
};
std::array<Written, 3> g_written;
thread_local volatile std::uint64_t g_written_by_me = 0;
std::atomic<bool> g_is_moved{false};

int body(Job& job, int, char** argv) {
  try {
    Settings settings = viaduct::splitc::load_settings();
    Memory memory(job, settings);
    g_is_moved = true;
    Rig rig{job, memory, settings};
    const bool statics = job.threads_mode() || std::string(argv[1]) != "private_statics";
    const AlignedRegions aligned = memory.align_regions();
    make_objects(rig);
    find_all(rig, statics);
    aligned_all(rig, aligned);
    view_all(rig);
    find_nothing(rig);
    job.bootstrap().fence();
    reuse(rig, false);
    reuse(rig, true);
    slices_do_not_overlap(rig);
    clear_edges(rig);
    keep_chunk(rig);
    use_heap(rig);
    if (!job.threads_mode()) {
      const std::string again = error_of([&] { Memory second(job, settings); });
      require(again.find("once in a process") != std::string::npos, "a second Memory: " + again);
    }
    for (const std::size_t i : {0U, 499U, 999U}) {
      const Object& untouched = g_untouched[i];
      for (const std::uint8_t byte : untouched.bytes) require(byte == 0, "zeroed data is not zero");
    }
    job.bootstrap().fence();
    return 0;
  } catch (const viaduct::splitc_test::Failed&) {
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::array<char*, 3> arguments{argv[0], argc > 1 ? argv[1] : argv[0], nullptr};
  const std::string what = argc > 1 ? argv[1] : "";
  std::atomic<bool> over{false};
  // Threads that run before Split-C begins. Static data stays where it is beside one that cannot be
  // held; nothing that the others write to it is lost.
  std::thread unheld;
  if (what == "private_statics") {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_BLOCK, &urgent, nullptr);
    unheld = std::thread([&over] { over.wait(false); });
    pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
  }
  std::vector<std::thread> writers;
  for (std::size_t i = 0; what == "busy_threads" && i < g_written.size(); ++i)
    writers.emplace_back([i] {
      while (!g_is_moved.load()) {
        g_written[i].of_all = g_written[i].of_all + 1;
        g_written_by_me = g_written_by_me + 1;
      }
      g_written[i].of_thread = g_written_by_me;
    });
  int code = viaduct::splitc_test::run_ranks(body, 2, arguments.data());
  over = true;
  over.notify_all();
  if (unheld.joinable()) unheld.join();
  for (std::thread& writer : writers) writer.join();
  for (const Written& written : g_written)
    if (written.of_all != written.of_thread) code = 1;
  return code;
}
