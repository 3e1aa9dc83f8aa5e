/// Allocation as programs see it: arrays that every process writes and reads, what happens when
/// there is no more, and wrong frees.

#include <fmt/format.h>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "splitc/detail/machine.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

namespace {

using splitc::global_ptr;
using splitc::spread_ptr;

struct Failed {};

void require(bool passed, const std::string& what, int line = __builtin_LINE()) {
  if (passed) return;
  fmt::print(stderr, "{}:{}: process {}: {}\n", __FILE__, line, MYPROC, what);
  throw Failed{};
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const viaduct::Error& problem) {
    return problem.what();
  }
  return {};
}

bool has(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

/// Every process has the same text.
void require_alike(const std::string& text, int line = __builtin_LINE()) {
  std::array<char, 1000> mine{};
  text.copy(mine.data(), mine.size() - 1);
  const auto first = splitc::all_bcast(mine);
  require(std::strcmp(mine.data(), first.data()) == 0,
          fmt::format("'{}' here, '{}' in process 0", mine.data(), first.data()), line);
}

/// Element i is written by process i + shift, and read by all.
void use(spread_ptr<long> a, long count, int shift) {
  for (long i = 0; i < count; ++i) require(a[i] == 0, fmt::format("element {} is not zero", i));
  splitc::barrier();
  for (long i = 0; i < count; ++i)
    if ((i + shift) % PROCS == MYPROC) a[i] = i * 3 + shift;
  splitc::barrier();
  for (long i = 0; i < count; ++i)
    require(a[i] == i * 3 + shift, fmt::format("element {} is {}", i, static_cast<long>(a[i])));
  splitc::barrier();
}

/// What is freed is zero when it comes again, whoever wrote it and however large it is.
void collective_arrays() {
  for (const long count : {1L, 7L, 100L, 3000L}) {
    const auto a = splitc::all_spread_malloc<long>(static_cast<std::size_t>(count));
    require(a.process() == 0, "the first element is not in process 0");
    require_alike(fmt::format("{:#x}", a.word()));
    use(a, count, 1);
    splitc::all_spread_free(a);
    const auto again = splitc::all_spread_malloc<long>(static_cast<std::size_t>(count));
    require(again == a, "a freed block is not used again");
    use(again, count, 2);
    splitc::all_spread_free(again);
  }
  splitc::all_spread_free(spread_ptr<long>());
  const auto none = splitc::all_spread_malloc<long>(0);
  require(static_cast<bool>(none), "an array of no elements is null");
  splitc::all_spread_free(none);
}

void copies_in_every_process() {
  constexpr std::size_t kCount = 5000;
  for (int round = 0; round < 3; ++round) {
    int* const mine = splitc::all_malloc<int>(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      require(mine[i] == 0, "not zeroed");
      mine[i] = MYPROC * 10'000 + static_cast<int>(i);
    }
    splitc::barrier();
    for (int process = 0; process < PROCS; ++process) {
      const auto theirs = splitc::toglobal(process, mine);
      for (const std::size_t i : {std::size_t{0}, kCount / 2, kCount - 1})
        require(theirs[static_cast<std::ptrdiff_t>(i)] == process * 10'000 + static_cast<int>(i),
                "not the copy of that process");
    }
    splitc::all_free(mine);
  }
  splitc::all_free<int>(nullptr);
}

/// Each process allocates for all, the next one frees; all at the same time.
void arrays_of_one() {
  for (int round = 0; round < 5; ++round) {
    const long count = 50 + MYPROC * 11 + round * 500;
    const auto mine = splitc::spread_malloc<long>(static_cast<std::size_t>(count));
    for (long i = 0; i < count; ++i) {
      require(mine[i] == 0, "not zeroed");
      mine[i] = i + 1000 * MYPROC;
    }
    const auto all = splitc::all_gather(mine);
    const int next = (MYPROC + 1) % PROCS;
    const auto theirs = all[static_cast<std::size_t>(next)];
    for (long i = 0; i < 50; ++i) require(theirs[i] == i + 1000 * next, "not what was written");
    splitc::barrier();
    splitc::spread_free(theirs);
    splitc::barrier();
    const auto again = splitc::spread_malloc<long>(static_cast<std::size_t>(count));
    require(again == mine, "a freed block is not used again");
    for (long i = 0; i < count; ++i) require(again[i] == 0, "not zeroed after a free");
    splitc::spread_free(again);
    splitc::barrier();
  }
  splitc::spread_free(spread_ptr<long>());
}

/// VIADUCT_SPREAD_BYTES=1M: an Error in every process alike, and things go on afterwards.
void exhausted() {
  using Bytes = std::array<char, 1024>;
  const auto too_many = static_cast<std::size_t>(PROCS) * 600;
  std::string text = error_of([&] { (void)splitc::all_spread_malloc<Bytes>(too_many); });
  require(has(text, "all_spread_malloc: process 0 has no room: no 614400 bytes are left"), text);
  require(has(text, "raise VIADUCT_SPREAD_BYTES"), text);
  require_alike(text);
  text = error_of([] { (void)splitc::all_malloc<Bytes>(600); });
  require(has(text, "all_malloc") && has(text, "VIADUCT_SPREAD_BYTES"), text);
  text = error_of([] { (void)splitc::all_malloc<Bytes>(~std::size_t{0} / 4); });
  require(has(text, "all_malloc: process 0 has no room"), text);
  require_alike(text);
  text = error_of([&] { (void)splitc::spread_malloc<Bytes>(too_many); });
  require(has(text, "spread_malloc: no 614400 bytes are left in this process' slice"), text);

  std::vector<Bytes*> held;
  while (error_of([&] { held.push_back(splitc::all_malloc<Bytes>(10)); }).empty()) {
  }
  require(held.size() > 40 && held.size() <= 51, fmt::format("{} blocks fit", held.size()));
  for (Bytes* block : held) splitc::all_free(block);

  // The last process alone has no room: all hear the same of it, and none has lost anything.
  auto& memory = viaduct::splitc::detail::machine("test").memory();
  const bool last = MYPROC == PROCS - 1;
  const std::uint64_t secret = last ? memory.allocate_alike(500'000) : 0;
  text = error_of([] { (void)splitc::all_malloc<Bytes>(200); });
  require(has(text, fmt::format("process {} has no room: no 204800 bytes", PROCS - 1).c_str()),
          text);
  require_alike(text);
  if (last) memory.release_alike(secret);
  Bytes* const block = splitc::all_malloc<Bytes>(400);
  splitc::barrier();
  splitc::all_free(block);
}

/// VIADUCT_SPREAD_BYTES=16384G: more than any machine has, and it says so before it is too late.
void more_than_the_machine() {
  const std::string text = error_of([] { (void)splitc::all_malloc<char>(std::size_t{7} << 40); });
  require(has(text, "all_malloc: process 0 has no room: 7696581394432 bytes of shared memory"),
          text);
  require(has(text, "raise that limit or use less"), text);
  require_alike(text);
  splitc::all_free(splitc::all_malloc<char>(1 << 20));
}

/// Each ends the program with a sentence.
void wrong(const std::string& how) {
  const auto spread = splitc::all_spread_malloc<long>(1000);
  long* const copies = splitc::all_malloc<long>(1000);
  auto own = splitc::spread_malloc<long>(1000);
  own = splitc::all_bcast(own, PROCS - 1);
  if (how == "other_size") (void)splitc::all_malloc<char>(MYPROC == 0 ? 10 : 11);
  if (how == "other_count") (void)splitc::all_spread_malloc<long>(MYPROC == 0 ? 1 : 2);
  if (how == "other_pointer") splitc::all_spread_free(MYPROC == 0 ? spread : spread_ptr<long>());
  if (how == "diverged") {
    if (MYPROC == 0) (void)viaduct::splitc::detail::machine("test").memory().allocate_alike(1);
    (void)splitc::all_malloc<char>(1);
  }
  if (how == "all_spread_free_inside") splitc::all_spread_free(spread + PROCS);
  if (how == "all_spread_free_second") splitc::all_spread_free(spread + 1);
  if (how == "all_spread_free_of_own") splitc::all_spread_free(own);
  if (how == "all_spread_free_twice") {
    splitc::all_spread_free(spread);
    splitc::all_spread_free(spread);
  }
  if (how == "all_free_inside") splitc::all_free(copies + 1);
  if (how == "all_free_of_heap") {
    static long object;
    splitc::all_free(&object);
  }
  if (MYPROC == 0) {
    if (how == "spread_free_inside") splitc::spread_free(own + PROCS);
    if (how == "spread_free_of_all") splitc::spread_free(spread);
    if (how == "spread_free_twice") {
      splitc::spread_free(own);
      splitc::spread_free(own);
    }
  }
  splitc::barrier();
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "good";
  try {
    if (how == "good") {
      collective_arrays();
      copies_in_every_process();
      arrays_of_one();
    } else if (how == "exhausted") {
      exhausted();
    } else if (how == "vast") {
      more_than_the_machine();
    } else {
      wrong(how);
    }
  } catch (const Failed&) {
    return 1;
  }
  return 0;
}
