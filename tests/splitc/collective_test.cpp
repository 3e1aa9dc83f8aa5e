/// Every collective operation against what one process alone makes of all processes' values.
/// usage: collective_test [--seed N] [--rounds N] [CASE...]

#include <sched.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/conformance/check.hpp"
#include "tests/splitc/collective_types.hpp"
#include "viaduct/runtime/clock.hpp"

namespace viaduct::splitc_test {
namespace {

using conformance::Note;

struct Setting {
  std::uint64_t seed = 1;
  std::uint32_t rounds = 300;
};
thread_local Setting setting;

[[nodiscard]] std::size_t procs() { return static_cast<std::size_t>(PROCS); }
[[nodiscard]] std::size_t me() { return static_cast<std::size_t>(MYPROC); }

/// A new number for each call, the same in all processes.
[[nodiscard]] std::uint64_t next_seed() {
  thread_local std::uint64_t calls = 0;
  return mixed(setting.seed, ++calls);
}

/// Processes come to a call at different times, now and then very different ones.
void dawdle(Random& own) {
  switch (own.below(8)) {
    case 0:
      ::sched_yield();
      return;
    case 1: {
      const std::uint64_t until = monotonic_ns() + own.below(own.below(16) == 0 ? 200'000 : 3'000);
      while (monotonic_ns() < until) splitc::poll();
      return;
    }
    default:
      return;
  }
}

template <class T>
void expect(const T& is, const T& wanted, const char* what) {
  conformance::check(same_bits(is, wanted), what, conformance::Where::here());
}

template <class T, class Op>
void reduce_and_scan(Op op, bool exact = true) {
  const Note note("{} bytes", sizeof(T));
  const std::vector<T> values = values_of<T>(next_seed(), procs());
  const T mine = values[me()];
  const T all = in_tree(values, op);
  expect(splitc::all_reduce(mine, op), all, "all_reduce");
  if (exact) expect(in_order(values, procs(), op), all, "the model itself");
  const int root = static_cast<int>(next_seed() % procs());
  expect(splitc::all_reduce_to_one(mine, op, root), root == MYPROC ? all : mine, "to one");
  if (!exact) return;
  expect(splitc::all_scan(mine, op), in_order(values, me() + 1, op), "all_scan");
  const T before = me() == 0 ? values[procs() - 1] : in_order(values, me(), op);
  expect(splitc::all_scan_before(mine, op, values[procs() - 1]), before, "all_scan_before");
}

/// Every operator by its name, to each root.
template <class T>
void reduce_named() {
  const std::vector<T> values = values_of<T>(next_seed(), procs());
  const T mine = values[me()];
  const auto check = [&](auto to_all, auto to_one, auto op, const char* what) {
    const T all = in_tree(values, op);
    constexpr auto kHere = splitc::detail::here();  // a pointer has no default arguments
    expect(to_all(mine, kHere), all, what);
    for (int root = 0; root < PROCS; ++root)
      expect(to_one(mine, root, kHere), root == MYPROC ? all : mine, what);
  };
  using namespace splitc;
  check(all_reduce_add<T>, all_reduce_to_one_add<T>, Add{}, "add");
  check(all_reduce_mul<T>, all_reduce_to_one_mul<T>, Multiply{}, "mul");
  check(all_reduce_min<T>, all_reduce_to_one_min<T>, Min{}, "min");
  check(all_reduce_max<T>, all_reduce_to_one_max<T>, Max{}, "max");
  expect(all_scan_min(mine), in_order(values, me() + 1, Min{}), "scan min");
  expect(all_scan_max(mine), in_order(values, me() + 1, Max{}), "scan max");
  if constexpr (std::integral<T>) {
    check(all_reduce_and<T>, all_reduce_to_one_and<T>, And{}, "and");
    check(all_reduce_or<T>, all_reduce_to_one_or<T>, Or{}, "or");
    check(all_reduce_xor<T>, all_reduce_to_one_xor<T>, Xor{}, "xor");
    expect(all_scan_add(mine), in_order(values, me() + 1, Add{}), "scan add");
  }
}

template <class T>
void move_one(int root) {
  const Note note("{} bytes, root {}", sizeof(T), root);
  const std::vector<T> values = values_of<T>(next_seed(), procs());
  const T mine = values[me()];
  expect(splitc::all_bcast(mine, root), values[static_cast<std::size_t>(root)], "all_bcast");
  const std::vector<T> one = splitc::all_gather_to_one(mine, root);
  CHECK_EQ(one.size(), root == MYPROC ? procs() : 0);
  for (std::size_t p = 0; p < one.size(); ++p) expect<T>(one[p], values[p], "all_gather_to_one");
  const std::vector<T> all = splitc::all_gather(mine);
  REQUIRE_EQ(all.size(), procs());
  for (std::size_t p = 0; p < procs(); ++p) expect<T>(all[p], values[p], "all_gather");
}

template <class T>
void move_array(std::size_t count, int root) {
  const Note note("{} times {} bytes, root {}", count, sizeof(T), root);
  Random random(next_seed());
  std::vector<T> wanted(count);
  for (T& value : wanted) value = drawn<T>(random);
  std::vector<T> data = root == MYPROC ? wanted : std::vector<T>(count + 1);
  if (root != MYPROC) random.fill(reinterpret_cast<std::byte*>(&data[count]), sizeof(T));
  const std::vector<T> before = data;
  splitc::all_bcast(data.data(), count, root);
  CHECK(std::equal(wanted.begin(), wanted.end(), data.begin(), same_bits<T>));
  CHECK(root == MYPROC || same_bits(data[count], before[count]));
}

/// A count of any type is the count, and no root.
void move_array_of_int_count() {
  std::vector<int> data(3, MYPROC + 5);
  const int count = 2;
  splitc::all_bcast(data.data(), count);
  CHECK(data == (std::vector<int>{5, 5, MYPROC + 5}));
}

/// Element by element, to all and to @p root.
template <class T, class Op>
void reduce_array(std::size_t count, int root, Op op) {
  const Note note("{} times {} bytes, root {}", count, sizeof(T), root);
  std::vector<std::vector<T>> all(count);
  for (auto& values : all) values = values_of<T>(next_seed(), procs());
  std::vector<T> data(count + 1);  // one more, which must stay as it is
  const auto fill = [&] {
    for (std::size_t i = 0; i < count; ++i) data[i] = all[i][me()];
    data[count] = T{};
  };
  const auto check = [&](bool reduced) {
    bool right = same_bits(data[count], T{});
    for (std::size_t i = 0; i < count; ++i)
      right = right && same_bits(data[i], reduced ? in_tree(all[i], op) : all[i][me()]);
    CHECK(right);
  };
  fill();
  splitc::all_reduce(data.data(), count, op);
  check(true);
  fill();
  splitc::all_reduce_to_one(data.data(), count, op, root);
  check(root == MYPROC);
}

using Numbers =
    std::tuple<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long,
               unsigned long, long long, unsigned long long, float, double, long double>;
using Objects =
    std::tuple<Blob<1>, Blob<3>, Blob<7>, Blob<12>, Blob<16>, Blob<47>, Blob<48>, Blob<49>,
               Blob<55>, Blob<56>, Blob<57>, Blob<64>, Blob<100>, Blob<128>, Blob<199>, Blob<200>>;

template <class List, class Body>
void for_each_type(Body&& body) {
  std::apply([&](auto... value) { (body(std::type_identity<decltype(value)>{}), ...); }, List{});
}

void numbers() {
  for_each_type<Numbers>([](auto type) {
    using T = typename decltype(type)::type;
    const Note note("{} bytes", sizeof(T));
    reduce_named<T>();
    for (int root = 0; root < PROCS; ++root) move_one<T>(root);
  });
}

void objects() {
  for_each_type<Objects>([](auto type) {
    for (int root = 0; root < PROCS; ++root) move_one<typename decltype(type)::type>(root);
  });
  for (int root = 0; root < std::min(PROCS, 3); ++root) {
    move_one<Blob<5000>>(root);
    move_one<Blob<70'001>>(root);
  }
}

void order() {
  for (int i = 0; i < 20; ++i) {
    reduce_and_scan<Matrix>(Product{});
    reduce_and_scan<Text>(Concatenate{});
    reduce_and_scan<Permutation<24>>(Follow{});
    reduce_and_scan<Permutation<28>>(Follow{});
    reduce_and_scan<Permutation<29>>(Follow{});
    reduce_and_scan<Permutation<100>>(Follow{});
    const int factor = i + 2;  // an operator that has something in it
    reduce_and_scan<unsigned>(
        [factor](unsigned a, unsigned b) { return a + b + 2 * static_cast<unsigned>(factor); });
  }
  reduce_and_scan<Permutation<5000>>(Follow{});
}

/// Sums of numbers of very different sizes: every order of summation gives another result.
void determinism() {
  for (int i = 0; i < 50; ++i) {
    const auto sum = [](auto zero) {
      using T = decltype(zero);
      std::vector<T> values = values_of<T>(next_seed(), procs());
      for (std::size_t p = 0; p < procs(); ++p)
        values[p] *= static_cast<T>(p % 3 == 0 ? 1e7 : p % 3 == 1 ? 1.0 : 1e-5);
      const T wanted = in_tree(values, splitc::Add{});
      expect(splitc::all_reduce_add(values[me()]), wanted, "sum");
      const int root = static_cast<int>(next_seed() % procs());
      expect(splitc::all_reduce_to_one_add(values[me()], root),
             root == MYPROC ? wanted : values[me()], "sum to one");
      const std::vector<T> everywhere = splitc::all_gather(splitc::all_reduce_add(values[me()]));
      for (const T& there : everywhere) expect(there, wanted, "the sum of another process");
    };
    sum(float{});
    sum(double{});
    sum(static_cast<long double>(0));
  }
}

/// Long arrays in the heap, in static memory and on the stack, which the others do not reach:
/// @p where of each process chooses.
template <class Where>
void long_arrays(Where where) {
  constexpr std::size_t kCount = 9000;
  using Array = std::array<std::uint64_t, kCount>;
  static std::array<Array, 16> in_static;  // one for each process: ranks may be threads
  Array on_stack;
  const auto in_heap = std::make_unique<Array>();
  Array* const places[] = {in_heap.get(), &in_static.at(me()), &on_stack};
  Array& data = *places[where(me())];
  for (int root = 0; root < PROCS; ++root) {
    const Note note("{} words, root {}", kCount, root);
    for (std::size_t i = 0; i < kCount; ++i) data[i] = root == MYPROC ? i * 3 + me() : 0;
    splitc::all_bcast(data.data(), kCount, root);
    bool right = true;
    for (std::size_t i = 0; i < kCount; ++i)
      right = right && data[i] == i * 3 + static_cast<std::size_t>(root);
    CHECK(right);
    for (std::size_t i = 0; i < kCount; ++i) data[i] = i + me();
    splitc::all_reduce(data.data(), kCount, splitc::Add{});
    right = true;
    for (std::size_t i = 0; i < kCount; ++i)
      right = right && data[i] == procs() * i + procs() * (procs() - 1) / 2;
    CHECK(right);
  }
}

void arrays() {
  for (std::size_t each = 0; each < 3; ++each) {
    long_arrays([&](std::size_t) { return each; });
    long_arrays([&](std::size_t process) { return (process + each) % 3; });
  }
  for (const std::size_t count : {0U, 1U, 2U, 7U, 8U, 100U, 1000U, 2047U, 2048U, 2049U, 30'000U})
    for (int root = 0; root < PROCS; ++root) move_array<double>(count, root);
  for (const std::size_t count : {0U, 1U, 6U, 7U, 8U, 100U, 511U, 512U, 513U, 3000U})
    for (int root = 0; root < PROCS; root += 2) {
      reduce_array<double>(count, root, splitc::Add{});
      reduce_array<Matrix>(count, root, Product{});
    }
  reduce_array<char>(10'000, PROCS - 1, splitc::Max{});
  reduce_array<Permutation<5000>>(3, PROCS / 2, Follow{});
  move_array<Blob<200>>(1000, PROCS - 1);
  move_array<char>(1'000'003, PROCS / 2);
  move_array_of_int_count();
}

/// Nobody is through before all have come.
void barriers() {
  const splitc::spread_ptr<std::uint32_t> at = splitc::all_spread_malloc<std::uint32_t>(procs());
  Random own(mixed(setting.seed, me(), 77));
  for (std::uint32_t round = 1; round <= setting.rounds; ++round) {
    dawdle(own);
    splitc::write(at + MYPROC, round);
    if (round % 3 == 0) {
      splitc::barrier();
    } else {
      splitc::barrier_notify();
      dawdle(own);
      if (round % 3 == 1)
        while (!splitc::barrier_try()) dawdle(own);
      splitc::barrier_wait();
    }
    const int other = static_cast<int>(own.below(procs()));
    CHECK(splitc::read(at + other) >= round);
    CHECK(splitc::read(at + other) <= round + 1);
  }
  splitc::barrier();
  splitc::all_spread_free(at);
}

/// Calls of all kinds one after the other, with nothing in between that would keep the processes
/// together.
void storm() {
  Random shared(mixed(setting.seed, 1234));
  Random own(mixed(setting.seed, me(), 4321));
  std::uint64_t sum = 0;
  for (std::uint32_t round = 0; round < setting.rounds; ++round) {
    dawdle(own);
    const int root = static_cast<int>(shared.below(procs()));
    const Note note("round {}", round);
    switch (shared.below(14)) {
      case 0:
        splitc::barrier();
        break;
      case 1:
        splitc::barrier_notify();
        dawdle(own);
        splitc::barrier_wait();
        break;
      case 2:
      case 3:  // many in a row that do not wait for all
        for (std::uint32_t left = shared.below(30); left != 0; --left)
          sum += static_cast<std::uint64_t>(splitc::all_bcast(MYPROC, root) != root);
        break;
      case 4:
        for (std::uint32_t left = shared.below(30); left != 0; --left) {
          const int total = splitc::all_reduce_to_one_add(1, root);
          CHECK_EQ(total, root == MYPROC ? PROCS : 1);
        }
        break;
      case 5:
        reduce_and_scan<Matrix>(Product{});
        break;
      case 6:
        reduce_and_scan<Permutation<100>>(Follow{});
        break;
      case 7:
        reduce_and_scan<double>(splitc::Add{}, false);
        break;
      case 8:
        move_one<Blob<16>>(root);
        break;
      case 9:
        move_one<Blob<200>>(root);
        break;
      case 10:
        move_array<int>(shared.below(3000), root);
        break;
      case 11:
        move_array<double>(shared.below(20'000), root);
        reduce_array<int>(shared.below(200), root, splitc::Add{});
        break;
      case 12:
        for (std::uint32_t left = shared.below(20); left != 0; --left)
          for (const int there : splitc::all_gather_to_one(root, root)) CHECK_EQ(there, root);
        break;
      default:
        for (std::uint32_t left = shared.below(30); left != 0; --left)
          CHECK_EQ(splitc::all_reduce_max(MYPROC), PROCS - 1);
    }
  }
  CHECK_EQ(sum, 0);
}

/// What is left in a line that nobody has written for 65,536 calls is not taken for a call that
/// differs.
void old_lines() {
  constexpr std::uint32_t kCalls = 1U << 16;
  constexpr std::uint32_t kLineSets = splitc::detail::kSets;
  splitc::barrier();
  for (std::uint32_t call = 1; call < kCalls; ++call) {
    // To process 0, nobody writes in the set of lines that the barrier before has used.
    if (call % kLineSets == 0)
      CHECK_EQ(splitc::all_bcast(call), call);
    else
      splitc::barrier();
  }
  const std::uint64_t late = monotonic_ns() + 20'000'000;
  while (MYPROC != 0 && monotonic_ns() < late) splitc::poll();  // so that process 0 looks around
  splitc::barrier();
}

struct Case {
  std::string_view name;
  void (*run)();
};
constexpr Case kCases[] = {
    {"numbers", numbers}, {"objects", objects},   {"order", order}, {"determinism", determinism},
    {"arrays", arrays},   {"barriers", barriers}, {"storm", storm},
};
/// These must be asked for: they take long.
constexpr Case kLongCases[] = {{"old_lines", old_lines}};

std::uint64_t run_case(const Case& c) {
  conformance::Verdict verdict;
  verdict.rank = static_cast<std::uint32_t>(MYPROC);
  verdict.case_name = c.name;
  conformance::set_current_verdict(&verdict);
  c.run();
  const std::uint64_t failures = splitc::all_reduce_add(verdict.failures);
  if (MYPROC == 0)
    std::printf("%s: %llu checks here, %llu failures, seed %llu\n", c.name.data(),
                static_cast<unsigned long long>(verdict.checks),
                static_cast<unsigned long long>(failures),
                static_cast<unsigned long long>(setting.seed));
  return failures;
}

}  // namespace
}  // namespace viaduct::splitc_test

int splitc_main(int argc, char** argv) {
  using namespace viaduct::splitc_test;
  std::vector<std::string_view> names;
  setting = {};
  if (MYPROC == 0) setting.seed = viaduct::monotonic_ns() % 1'000'000;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--seed" && i + 1 < argc)
      setting.seed = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--rounds" && i + 1 < argc)
      setting.rounds = static_cast<std::uint32_t>(std::strtoul(argv[++i], nullptr, 10));
    else
      names.push_back(word);
  }
  setting.seed = viaduct::splitc::all_bcast(setting.seed, 0);
  if (MYPROC == 0) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(setting.seed));
    std::fflush(stdout);
  }
  std::uint64_t failures = 0;
  std::size_t found = 0;
  const auto is_named = [&names](const Case& c) {
    return std::find(names.begin(), names.end(), c.name) != names.end();
  };
  const auto run_it = [&](const Case& c) {
    ++found;
    failures += run_case(c);
  };
  for (const Case& c : kCases)
    if (names.empty() || is_named(c)) run_it(c);
  for (const Case& c : kLongCases)
    if (is_named(c)) run_it(c);
  if (found == 0) std::fprintf(stderr, "there is no such case\n");
  return failures == 0 && found != 0 ? 0 : 1;
}
