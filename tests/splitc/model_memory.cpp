#include "tests/splitc/model_memory.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <fmt/format.h>

namespace viaduct::splitc_test {
namespace {

// Ranks may be threads: each has an element.
struct alignas(128) Block {
  std::byte bytes[kArenaBytes];
};
Block g_zeroed[kMaxRanks];
Block g_initialised[kMaxRanks] = {{{std::byte{1}}}};
thread_local Block t_block;
thread_local Memory* t_memory = nullptr;

std::byte* map_private() {
  void* at = mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) std::abort();
  return static_cast<std::byte*>(at);
}

std::byte* bytes_of(splitc::spread_ptr<Sixteen> array) {
  return reinterpret_cast<std::byte*>(tolocal(array));
}

std::byte* get(const std::array<std::byte*, kArenas>& arenas, Arena arena) {
  return arenas[static_cast<std::size_t>(arena)];
}

}  // namespace

Memory::Memory(std::byte* stack) {
  const auto rank = static_cast<std::size_t>(MYPROC);
  const auto last = PROCS - 1;
  const std::size_t elements = static_cast<std::size_t>(PROCS) * kArenaBytes / sizeof(Sixteen);
  spread_ = splitc::all_spread_malloc<Sixteen>(elements);
  if (MYPROC == last) own_ = splitc::spread_malloc<Sixteen>(elements);
  own_ = splitc::all_bcast(own_, last);
  const auto set = [&](Arena arena, std::byte* to) { mine_[static_cast<std::size_t>(arena)] = to; };
  set(Arena::spread, bytes_of(spread_));
  set(Arena::alike, splitc::all_malloc<std::byte>(kArenaBytes));
  set(Arena::own, bytes_of(own_));
  set(Arena::heap, reinterpret_cast<std::byte*>(new Block));
  set(Arena::zeroed, g_zeroed[rank].bytes);
  set(Arena::initialised, g_initialised[rank].bytes);
  set(Arena::stack, stack);
  set(Arena::thread, t_block.bytes);
  set(Arena::mapped, map_private());
  exchange();
  t_memory = this;
}

void Memory::exchange() {
  all_.resize(static_cast<std::size_t>(PROCS));
  for (std::size_t arena = 0; arena < kArenas; ++arena) {
    const auto words = splitc::all_gather(splitc::toglobal(mine_[arena]));
    for (std::size_t q = 0; q < words.size(); ++q) all_[q][arena] = words[q];
  }
}

Memory::~Memory() {
  t_memory = nullptr;
  if (std::uncaught_exceptions() != 0) return;  // others do not come to the calls below
  splitc::barrier();
  munmap(get(mine_, Arena::mapped), kArenaBytes);
  delete reinterpret_cast<Block*>(get(mine_, Arena::heap));
  splitc::all_free(get(mine_, Arena::alike));
  if (MYPROC == PROCS - 1) splitc::spread_free(own_);
  splitc::all_spread_free(spread_);
}

Memory& memory_here() noexcept { return *t_memory; }

void fail(const Place& place, const std::string& what) {
  fmt::print(stderr, "process {} of {}, seed {}, phase {}: {}\n", MYPROC, PROCS, place.seed,
             place.phase, what);
  std::fflush(nullptr);
  std::_Exit(1);
}

void expect_bytes(const Place& place, const std::string& what, const std::byte* got,
                  const std::byte* wanted, std::size_t bytes) {
  if (std::memcmp(got, wanted, bytes) == 0) return;
  std::size_t i = 0;
  while (got[i] == wanted[i]) ++i;
  std::size_t wrong = 0;
  for (std::size_t k = i; k < bytes; ++k) wrong += got[k] != wanted[k] ? 1U : 0U;
  fail(place,
       fmt::format("{}: byte {} of {} is {:#x}, must be {:#x}; {} bytes are wrong", what, i, bytes,
                   std::to_integer<unsigned>(got[i]), std::to_integer<unsigned>(wanted[i]), wrong));
}

}  // namespace viaduct::splitc_test
