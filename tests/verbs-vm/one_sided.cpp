/// @file
/// Split-C's one-sided accesses between hosts, on RDMA devices: VIADUCT_SPLITC_PATH=rdma.
///
///     one_sided ops           every operation, word and block, aligned or not, from and to memory
///                             of every kind, between all pairs of processes of different hosts
///     one_sided sleeping      each process in turn sleeps in a plain sleep, and polls nothing,
///                             while the others read and write its memory
///     one_sided freed         memory is freed and allocated again where devices reach it
///     one_sided auto          as ops by path auto: what is short goes by message
///     one_sided killed        the last process is killed while the others get from it and one
///                             takes its stores: each must get an Error that names it, and say
///                             "survived"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/splitc/off_node.hpp"
#include "tests/verbs-vm/one_sided_check.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

using namespace viaduct::splitc;
using viaduct::splitc_test::accesses;
using viaduct::splitc_test::expect;

namespace {

using Bytes = std::vector<std::uint8_t>;

// A sanitizer's malloc stays, so that the heap is private.
#if defined(__SANITIZE_ADDRESS__)
#define VIADUCT_PRIVATE_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define VIADUCT_PRIVATE_HEAP 1
#endif
#endif
#ifdef VIADUCT_PRIVATE_HEAP
constexpr bool kSharesHeap = false;
#else
constexpr bool kSharesHeap = true;
#endif

constexpr int kMostProcesses = 16;
constexpr std::size_t kArea = 300'000;  // of one process in one memory of another
constexpr std::size_t kRows = 2;  // areas of static data, for each writer: a chunk's end among
constexpr std::size_t kStackArea = 2000;

[[nodiscard]] bool is_other(int process) {
  return process != MYPROC && viaduct::splitc_test::is_remote(process);
}

struct Odd {  // no word, and no multiple of one
  std::uint8_t bytes[20];
};
struct Large {  // more than a message's line has room for
  std::uint8_t bytes[100];
};

/// Memory of one kind in every process, in which each other process has an area.
struct Kind {
  const char* name;
  std::vector<global_ptr<std::uint8_t>> at;  // by owner
  std::size_t bytes;                         // of an area
  bool by_rdma;
};

std::uint8_t g_static[kMostProcesses][kRows * 8][65'000];  // some chunks

/// This process' idea of what its areas hold, and operations that change both.
class Player {
 public:
  Player(Kind& kind, int owner, unsigned seed)
      : kind_(kind),
        area_(kind.at[static_cast<std::size_t>(owner)] +
              static_cast<std::ptrdiff_t>(kind.bytes) * MYPROC),
        shadow_(kind.bytes),
        combination_(owner + MYPROC),
        random_(seed + static_cast<unsigned>(owner * 100 + MYPROC)) {
    // Own memory: in a chunk; of a private mapping; on the stack of the caller.
    shared_.reset(new std::uint8_t[kArea]);
    private_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, kArea, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  ~Player() { ::munmap(private_, kArea); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void words() {
    for (const std::size_t shift : {0U, 1U, 3U, 4U}) {
      if (is_left_out()) continue;
      value<std::uint8_t>(shift);
      value<std::uint16_t>(shift);
      value<std::uint32_t>(shift);
      value<std::uint64_t>(shift);
      value<Odd>(shift);
      value<Large>(shift);
    }
  }
  void blocks() {
    constexpr std::size_t kSizes[] = {1,    7,    8,    48,     49,      192,     193,
                                      4096, 4097, 8191, 65'536, 131'072, 131'073, 200'001};
    std::uint8_t on_stack[kStackArea];
    std::size_t shift = 0;  // of the own memory; of the other's it is another one
    for (const std::size_t size : kSizes) {
      if (size + kGuard > kind_.bytes) break;
      if (is_left_out()) continue;
      block(shared_.get() + shift, size, (shift + 1) % 5);
      block(private_ + shift, size, shift);
      if (size + shift <= sizeof on_stack) block(on_stack + shift, size, 4 - shift);
      shift = (shift + 3) % 5;
    }
  }
  /// Stores of blocks, each with a store of a byte inside it that comes later. Answers how many
  /// bytes.
  std::size_t stores() {
    std::size_t sum = 0;
    constexpr std::size_t kSizes[] = {1,    8,    48,   49,     96,     97,      192,
                                      4096, 4097, 8192, 65'536, 65'537, 140'000, 200'001};
    std::size_t shift = 0;
    for (const std::size_t size : kSizes) {
      if (size + kGuard > kind_.bytes) break;
      for (std::uint8_t* const own : {shared_.get() + shift, private_ + 3}) {
        const std::size_t at = place(size, shift);
        const auto there = area_ + static_cast<std::ptrdiff_t>(at);
        scribble(own, size);
        bulk_store(there, own, size);  // to be overwritten by the next one
        scribble(own, size);
        std::memcpy(shadow_.data() + at, own, size);
        bulk_store(there, own, size);
        std::memset(own, 0, size);  // it may be changed when the call has returned
        const std::size_t middle = size / 2;
        shadow_[at + middle] = static_cast<std::uint8_t>(random_());
        store(there + static_cast<std::ptrdiff_t>(middle), shadow_[at + middle]);
        sum += 2 * size + 1;
      }
      shift = (shift + 3) % 5;
    }
    return sum;
  }
  /// What the owner sees there, by its own loads, which a message asks for.
  void compare(const char* when) {
    Bytes there(kind_.bytes);
    bulk_read(there.data(), area_, there.size());
    const auto differs = std::mismatch(there.begin(), there.end(), shadow_.begin());
    expect(differs.first == there.end(), std::string(when) + ": " + kind_.name +
                                             " memory is other than written, at byte " +
                                             std::to_string(differs.first - there.begin()));
  }

 private:
  static constexpr std::size_t kGuard = 16;

  /// Many pairs share the combinations.
  bool is_left_out() { return PROCS > 2 && ++combination_ % 4 != 0; }
  std::size_t place(std::size_t bytes, std::size_t shift) {
    const std::size_t room = kind_.bytes - bytes - kGuard;
    return (random_() % (room + 1)) / 8 * 8 + shift;
  }
  void scribble(std::uint8_t* to, std::size_t bytes) {
    auto value = static_cast<std::uint8_t>(random_());
    for (std::size_t i = 0; i < bytes; ++i)
      to[i] = value = static_cast<std::uint8_t>(value * 5 + 3);
  }
  void expect_same(const void* got, std::size_t at, std::size_t bytes, const char* operation) {
    expect(std::memcmp(got, shadow_.data() + at, bytes) == 0,
           std::string(operation) + " of " + std::to_string(bytes) + " bytes of " + kind_.name +
               " memory");
  }

  template <class T>
  void value(std::size_t shift) {
    const auto pointer = [&](std::size_t at) {
      return global_ptr<T>(area_ + static_cast<std::ptrdiff_t>(at));
    };
    const auto fresh = [&](std::size_t at) {
      T value;
      scribble(reinterpret_cast<std::uint8_t*>(&value), sizeof value);
      std::memcpy(shadow_.data() + at, &value, sizeof value);
      return value;
    };
    std::size_t at = place(sizeof(T), shift);
    write(pointer(at), fresh(at));
    T got = read(pointer(at));
    expect_same(&got, at, sizeof got, "write and read");
    write_fenced(pointer(at), fresh(at));
    at = place(sizeof(T), shift);
    const auto handle = put(pointer(at), fresh(at));
    wait(handle);
    expect(is_done(handle), "what has been waited for is done");
    (void)get(&got, pointer(at));
    viaduct::splitc::sync();
    expect_same(&got, at, sizeof got, "put and get");
    store_now(pointer(at), fresh(at));
    viaduct::splitc::sync();
    got = read(pointer(at));
    expect_same(&got, at, sizeof got, "store_now and read");
  }

  void block(std::uint8_t* own, std::size_t bytes, std::size_t shift) {
    std::size_t at = place(bytes, shift);
    const auto there = [&] { return area_ + static_cast<std::ptrdiff_t>(at); };
    const auto fresh = [&] {
      scribble(own, bytes);
      std::memcpy(shadow_.data() + at, own, bytes);
    };
    const auto forget = [&] { std::memset(own, 0, bytes); };
    fresh();
    bulk_write(there(), own, bytes);
    forget();
    bulk_read(own, there(), bytes);
    expect_same(own, at, bytes, "bulk_write and bulk_read");
    at = place(bytes, shift);
    fresh();
    const auto put = bulk_put(there(), own, bytes);
    forget();  // it may be changed when the call has returned
    wait(put);
    const auto get = bulk_get(own, there(), bytes);
    while (!is_done(get)) continue;
    expect_same(own, at, bytes, "bulk_put and bulk_get");
    fresh();
    bulk_store_now(there(), own, bytes);
    forget();
    viaduct::splitc::sync();
    bulk_read(own, there(), bytes);
    expect_same(own, at, bytes, "bulk_store_now and bulk_read");
  }

  Kind& kind_;
  global_ptr<std::uint8_t> area_;
  Bytes shadow_;
  int combination_;
  std::mt19937 random_;
  std::unique_ptr<std::uint8_t[]> shared_;
  std::uint8_t* private_;
};

Kind make_kind(const char* name, std::uint8_t* mine, std::size_t bytes, bool by_rdma) {
  return {name, all_gather(toglobal(mine)), bytes, by_rdma};
}

int ops(bool automatic) {
  const auto procs = static_cast<std::size_t>(PROCS);
  const bool threads = job().threads_mode();
  auto* const spread = all_malloc<std::uint8_t>(procs * kArea);
  const auto heap = std::make_unique<std::uint8_t[]>(procs * kArea);
  std::uint8_t stack[kMostProcesses * kStackArea] = {};
  auto* const apart = static_cast<std::uint8_t*>(
      ::mmap(nullptr, procs * kArea, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::vector<Kind> kinds;
  kinds.push_back(make_kind("spread", spread, kArea, true));
  kinds.push_back(make_kind("heap", heap.get(), kArea, kSharesHeap && !threads));
  kinds.push_back(
      make_kind("static", &g_static[MYPROC][0][0], sizeof g_static[0] / procs, !threads));
  kinds.push_back(make_kind("stack", stack, kStackArea, false));
  kinds.push_back(make_kind("mapped", apart, kArea, false));
  std::vector<std::unique_ptr<Player>> players;
  barrier();
  for (Kind& kind : kinds) {
    for (int owner = 0; owner < PROCS; ++owner) {
      if (!is_other(owner)) continue;
      const std::uint64_t before = accesses("one_sided");
      players.push_back(std::make_unique<Player>(kind, owner, 1U));
      players.back()->words();
      players.back()->blocks();
      const std::uint64_t went = accesses("one_sided") - before;
      if (threads) continue;  // the counters are those of all
      expect((went > 0) == kind.by_rdma, std::string(kind.name) + " memory is reached by RDMA " +
                                             std::to_string(went) + " times");
    }
  }
  force_path(Path::message);
  for (const auto& player : players) player->compare("written by RDMA");
  for (const auto& player : players) player->words();
  force_path(automatic ? Path::automatic : Path::rdma);
  for (const auto& player : players) player->compare("written by messages");
  barrier();
  std::size_t stored = 0;
  for (const auto& player : players) stored += player->stores();
  store_sync(stored);  // as many as this process has stored have been stored here
  barrier();
  for (const auto& player : players) player->compare("stored");
  barrier();
  all_free(spread);
  ::munmap(apart, procs * kArea);
  return 0;
}

/// Nobody but devices changes what it waits for.
void sleep_until(const std::uint64_t* word, std::uint64_t value) {
  const double start = get_seconds();
  constexpr double kPatience = 60;
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (get_seconds() - start < kPatience) continue;
    expect(false, "a process that polls nothing has been written to");
    return;
  }
}

int sleeping() {
  constexpr std::size_t kWords = 40'000;
  struct Area {
    std::uint64_t ended;
    std::uint64_t words[kWords];
  };
  auto* const areas = all_malloc<Area>(static_cast<std::size_t>(PROCS));
  std::vector<std::uint64_t> block(kWords);
  for (int sleeper = 0; sleeper < PROCS; ++sleeper) {
    const auto there = [&] {
      return global_ptr<std::uint64_t>(toglobal(sleeper, &areas[MYPROC].ended));
    };
    for (std::size_t i = 0; i <= kWords && is_other(sleeper); i += 1000)  // asks for all chunks
      (void)read(there() + static_cast<std::ptrdiff_t>(i));
    barrier();
    if (MYPROC == sleeper) {
      for (int p = 0; p < PROCS; ++p)
        if (is_other(p)) sleep_until(&areas[p].ended, 1);
    } else if (is_other(sleeper)) {
      std::iota(block.begin(), block.end(), static_cast<std::uint64_t>(sleeper));
      bulk_write(there() + 1, block.data(), kWords);
      std::vector<std::uint64_t> got(kWords);
      bulk_read(got.data(), there() + 1, kWords);
      expect(got == block, "a block is read from a process that polls nothing");
      for (std::ptrdiff_t i = 1; i < 100; ++i) (void)put(there() + i, std::uint64_t{7});
      viaduct::splitc::sync();
      std::uint64_t word = 0;
      (void)get(&word, there() + 99);
      viaduct::splitc::sync();
      expect(word == 7 && read(there() + 100) == block[99], "words are read from it");
      write(there(), std::uint64_t{1});
    }
    barrier();
    for (int p = 0; MYPROC == sleeper && p < PROCS; ++p) {
      if (!is_other(p)) continue;
      expect(
          areas[p].words[98] == 7 && areas[p].words[99] == 99 + static_cast<std::uint64_t>(sleeper),
          "what has been written is there");
      areas[p].ended = 0;
    }
    barrier();
  }
  all_free(areas);
  return 0;
}

/// What is registered stays the memory that is at its address.
int freed() {
  constexpr std::size_t kBytes = 3'000'000;
  for (std::uint8_t round = 1; round != 4; ++round) {
    auto* const mine = all_malloc<std::uint8_t>(kBytes);
    expect(std::all_of(mine, mine + kBytes, [](std::uint8_t byte) { return byte == 0; }),
           "allocated memory is zero");
    barrier();
    std::memset(mine, round, kBytes);
    barrier();
    const Bytes wanted(kBytes, round);
    for (int p = 0; p < PROCS; ++p) {
      Bytes got(kBytes);
      if (!is_other(p)) continue;
      bulk_read(got.data(), toglobal(p, mine), kBytes);
      expect(got == wanted, "another process reads what the owner has written since");
    }
    barrier();
    const int next = (MYPROC + 1) % PROCS;
    bulk_write(toglobal(next, mine), Bytes(kBytes, static_cast<std::uint8_t>(round + 100)).data(),
               kBytes);
    barrier();
    expect(std::all_of(mine, mine + kBytes, [=](std::uint8_t byte) { return byte == round + 100; }),
           "the owner sees what another process has written");
    barrier();
    all_free(mine);
  }
  return 0;
}

int killed() {
  constexpr std::size_t kBytes = 1'000'000;
  auto* const mine = all_malloc<std::uint8_t>(kBytes);
  auto* const flag = all_malloc<std::int64_t>(1);
  const int last = PROCS - 1;
  const auto got = std::make_unique<std::uint8_t[]>(kBytes);
  const auto there = toglobal(last, mine);
  barrier();
  try {
    for (int i = 0;; ++i) {
      if (MYPROC != last) (void)bulk_get(got.get(), there, kBytes);
      if (MYPROC != last && i % 4 == 3) viaduct::splitc::sync();
      const int kMany = 20;
      if (i < kMany) barrier();
      if (i == kMany && MYPROC == last) {
        std::memset(got.get(), 7, kBytes);
        bulk_store(toglobal(0, mine), got.get(), kBytes);
        store(toglobal(0, flag), std::int64_t{1});
        ::raise(SIGKILL);  // process 0 has not taken all of it
      }
    }
  } catch (const viaduct::Error& problem) {
    const std::string name = "process " + std::to_string(last);
    if (std::string_view(problem.what()).find(name) == std::string_view::npos) {
      std::printf("process %d: the sentence does not name %s: %s\n", MYPROC, name.c_str(),
                  problem.what());
      return 1;
    }
    if (*flag == 1 &&
        !std::all_of(mine, mine + kBytes, [](std::uint8_t byte) { return byte == 7; })) {
      std::printf("process %d: a store has taken effect without an earlier one\n", MYPROC);
      return 1;
    }
    std::printf("process %d: %s: survived\n", MYPROC, problem.what());
    std::fflush(stdout);
    throw;
  }
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "killed") return killed();
  int wrong = 2;
  if (what == "ops" || what == "auto") wrong = ops(what == "auto");
  if (what == "sleeping") wrong = sleeping();
  if (what == "freed") wrong = freed();
  barrier();
  std::printf("process %d: %lu accesses went one-sided\n", MYPROC,
              static_cast<unsigned long>(accesses("one_sided")));
  return wrong != 0 ? wrong : viaduct::splitc_test::g_failures == 0 ? 0 : 1;
}
