// splitc-ops: the cost of one operation of Split-C, by operation, type and path, beside a plain
// load or store and the machine's limits. Run as `viaduct-run -n 2 --bind splitc-ops`; see
// docs/benchmarks.md. After Begel et al. 2001, figure 2.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "benchmarks/common/am_link.hpp"
#include "benchmarks/common/conclude.hpp"
#include "benchmarks/common/curve.hpp"
#include "benchmarks/common/figures.hpp"
#include "benchmarks/common/measurements.hpp"
#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/stopwatch.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::bench {
namespace {

using splitc::global_ptr;
using splitc::Path;

constexpr std::int64_t kElements = 512;  // of the block that is read and written in turn
constexpr std::uint64_t kDirectRounds = 200'000;
constexpr std::uint64_t kMessageRounds = 5'000;

void add(std::uint64_t* word, std::uint64_t value) { *word += value; }

struct NamedPath {
  Path path;
  const char* name;
};
constexpr NamedPath kPaths[] = {
    {Path::direct, "direct"}, {Path::rdma, "rdma"}, {Path::message, "message"}};

struct OpsOptions : Options {
  std::vector<std::string> types;  // empty: all
  bool blocks = false;
  [[nodiscard]] bool wants(const char* type) const {
    return types.empty() || std::find(types.begin(), types.end(), type) != types.end();
  }
};

/// Nanoseconds of one @p body(i) at rank 0, until all are complete; rank 1 answers meanwhile.
template <class Body>
double time_each(const OpsOptions& options, std::uint64_t rounds, Body body) {
  if (options.iterations != 0) rounds = options.iterations;
  double ns = 0;
  splitc::barrier();
  if (MYPROC == 0) {
    const Stopwatch watch;
    for (std::uint64_t n = 0; n < rounds; ++n)
      body(static_cast<std::int64_t>(n % static_cast<std::uint64_t>(kElements)));
    splitc::sync();
    ns = watch.elapsed_ns() / static_cast<double>(rounds);
  }
  splitc::all_store_sync();
  return ns;
}

/// One type's block at the peer: rank 0 uses it, rank 1 answers.
template <class T>
class Ops {
 public:
  Ops(const char* type, const OpsOptions& options)
      : type_(type),
        options_(options),
        mine_(splitc::all_malloc<T>(kElements)),
        theirs_(splitc::toglobal(1, mine_)),
        plain_(std::make_unique<T[]>(kElements)) {}

  void add_to(Measurements& list) {
    if (!options_.wants(type_)) return;
    const std::string load = fmt::format("plain_load_{}_ns", type_);
    const std::string store = fmt::format("plain_store_{}_ns", type_);
    list.add(load, "ns", "",
             [this] { return each(kDirectRounds, [this](std::int64_t i) { take(plain()[i]); }); });
    list.add(store, "ns", "", [this] {
      return each(kDirectRounds, [this](std::int64_t i) { plain()[i] = static_cast<T>(i); });
    });
    for (const NamedPath& path : kPaths)
      if (path.path != Path::direct || !splitc::detail::any_off_node())
        add_path(list, path, load, store);
  }

 private:
  /// The compiler cannot drop a loop over these accesses, nor turn it into vector instructions.
  volatile T* plain() noexcept { return plain_.get(); }
  static void take(T value) noexcept { asm volatile("" : : "r,m,x"(value) : "memory"); }

  void add_path(Measurements& list, NamedPath path, const std::string& load,
                const std::string& store) {
    const bool direct = path.path == Path::direct;
    const std::uint64_t rounds = direct ? kDirectRounds : kMessageRounds;
    const auto add = [&](const char* op, const std::string& limit, auto body) {
      list.add(fmt::format("{}_{}_{}_ns", op, type_, path.name), "ns",
               direct ? limit : std::string("hand_over_ns"), [this, path, rounds, body] {
                 splitc::force_path(path.path);
                 return each(rounds, body);
               });
    };
    add("read", load, [this](std::int64_t i) { take(splitc::read(theirs_ + i)); });
    add("write", store, [this](std::int64_t i) { splitc::write(theirs_ + i, static_cast<T>(i)); });
    add("get", load, [this](std::int64_t i) { (void)splitc::get(plain_.get() + i, theirs_ + i); });
    add("put", store,
        [this](std::int64_t i) { (void)splitc::put(theirs_ + i, static_cast<T>(i)); });
    if (path.path == Path::message)
      add("store", store,
          [this](std::int64_t i) { splitc::store(theirs_ + i, static_cast<T>(i)); });
  }

  template <class Body>
  double each(std::uint64_t rounds, Body body) {
    return time_each(options_, rounds, body);
  }

  const char* type_;
  OpsOptions options_;
  T* mine_;
  global_ptr<T> theirs_;
  std::unique_ptr<T[]> plain_;
};

/// Blocks of rank 1's memory by each path: which one is the fastest for a length?
class BlockOps {
 public:
  explicit BlockOps(const OpsOptions& options)
      : options_(options),
        theirs_(splitc::toglobal(1, splitc::all_malloc<char>(kSizes.back()))),
        plain_(splitc::all_malloc<char>(kSizes.back())) {}

  void add_to(Measurements& list) const {
    if (!options_.blocks) return;
    for (const std::int64_t bytes : kSizes)
      for (const NamedPath& path : kPaths)
        if (path.path != Path::direct || !splitc::detail::any_off_node())
          add_path(list, path, bytes);
  }

 private:
  static constexpr std::array<std::int64_t, 7> kSizes{16, 64, 128, 256, 512, 1024, 4096};

  void add_path(Measurements& list, NamedPath path, std::int64_t bytes) const {
    const auto add = [&](const char* op, auto body) {
      list.add(fmt::format("{}_block_{}_{}_ns", op, size_name(static_cast<std::size_t>(bytes)),
                           path.name),
               "ns", "hand_over_ns", [this, path, body] {
                 splitc::force_path(path.path);
                 return time_each(options_, kMessageRounds, body);
               });
    };
    const auto count = static_cast<std::size_t>(bytes);
    add("read", [this, count](std::int64_t) { splitc::bulk_read(plain_, theirs_, count); });
    add("write", [this, count](std::int64_t) { splitc::bulk_write(theirs_, plain_, count); });
    add("get", [this, count](std::int64_t) { (void)splitc::bulk_get(plain_, theirs_, count); });
    add("put", [this, count](std::int64_t) { (void)splitc::bulk_put(theirs_, plain_, count); });
  }

  OpsOptions options_;
  global_ptr<char> theirs_;
  char* plain_;  // registered, too
};

class SplitcOps {
 public:
  SplitcOps(Job& job, std::byte* block, Role role, const OpsOptions& options)
      : options_(options),
        yardsticks_(block, role),
        context_(job),
        am_(context_, yardsticks_.pair(), Rank{role == Role::sender ? 1U : 0U},
            yardsticks_.bulk_target(), Yardsticks::kBulkBytes),
        char_("char", options),
        short_("short", options),
        int_("int", options),
        long_("long", options),
        float_("float", options),
        double_("double", options),
        blocks_(options),
        words_(splitc::toglobal(1, splitc::all_malloc<std::uint64_t>(kElements))),
        other_words_(splitc::toglobal(1 - MYPROC, splitc::tolocal(words_))) {
    list_.add("hand_over_ns", "ns", "", [this] { return yardsticks_.hand_over_ns(20'000); });
    list_.add("ring_rate_mps", "M/s", "", [this] {
      double best = 0;
      for (const RingLayout layout : kRingLayouts)
        best = std::max(best, yardsticks_.ring_rate_mps(layout, 1'000'000));
      return best;
    });
    list_.add("barrier_2_ns", "ns", "hand_over_ns", [this] { return barrier_ns(); });
    list_.add("allreduce_word_2_ns", "ns", "hand_over_ns", [this] { return all_reduce_ns(); });
    for (const std::size_t count : {8U, 64U, 512U})
      list_.add(fmt::format("allreduce_{}_doubles_2_ns", count), "ns", "hand_over_ns",
                [this, count] { return all_reduce_array_ns(count); });
    if (splitc::mapped(other_words_) != nullptr) add_long_arrays();
    list_.add("store_mps", "M/s", "ring_rate_mps", [this] { return store_mps(); });
    list_.add("store_both_mps", "M/s", "ring_rate_mps", [this] { return store_both_mps(); });
    list_.add("atomic_put_mps", "M/s", "ring_rate_mps", [this] { return atomic_put_mps(); });
    list_.add("am_short_rtt_half_ns", "ns", "hand_over_ns",
              [this] { return am_.rtt_half_ns(iterations(20'000)); });
    list_.add("splitc_rtt_half_ns", "ns", "am_short_rtt_half_ns",
              [this] { return read_rtt_half_ns(); });
    char_.add_to(list_);
    short_.add_to(list_);
    int_.add_to(list_);
    long_.add_to(list_);
    float_.add_to(list_);
    double_.add_to(list_);
    blocks_.add_to(list_);
  }

  Figures run() {
    const Rounds rounds = list_.run(yardsticks_.pair(), options_.rounds);
    Figures figures;
    list_.add_to(figures, rounds);
    list_.tell(rounds, figures);
    return figures;
  }

 private:
  [[nodiscard]] std::uint64_t iterations(std::uint64_t defined) const noexcept {
    return options_.iterations != 0 ? options_.iterations : defined;
  }

  double barrier_ns() {
    splitc::force_path(Path::automatic);
    const std::uint64_t rounds = iterations(50'000);
    Stopwatch watch;
    for (std::uint64_t n = 0; n < rounds; ++n) splitc::barrier();
    return watch.elapsed_ns() / static_cast<double>(rounds);
  }

  double all_reduce_ns() {
    const std::uint64_t rounds = iterations(50'000);
    std::uint64_t sum = 0;
    Stopwatch watch;
    for (std::uint64_t n = 0; n < rounds; ++n) sum += splitc::all_reduce_add(n);
    const double ns = watch.elapsed_ns() / static_cast<double>(rounds);
    if (sum != rounds * (rounds - 1))
      throw Error(std::errc::protocol_error, "the all-reduce gave a wrong sum");
    return ns;
  }

  static constexpr std::size_t kLongArray = std::size_t{64} << 10;

  void add_long_arrays() {
    list_.add("array_copy_64k_doubles_2_ns", "ns", "", [this] { return array_copy_ns(); });
    list_.add("allreduce_64k_doubles_2_ns", "ns", "array_copy_64k_doubles_2_ns",
              [this] { return all_reduce_array_ns(kLongArray); });
    list_.add("bcast_64k_doubles_2_ns", "ns", "array_copy_64k_doubles_2_ns",
              [this] { return broadcast_array_ns(); });
  }

  /// What the collectives of long arrays are read against: both processes fill their arrays, and
  /// then each copies the other's.
  double array_copy_ns() {
    const std::uint64_t rounds = iterations(200);
    splitc::force_path(Path::automatic);
    auto* const mine = splitc::all_malloc<double>(kLongArray);
    const double* const theirs = splitc::mapped(splitc::toglobal(1 - MYPROC, mine));
    std::vector<double> copy(kLongArray);
    bool right = true;
    Stopwatch watch;
    for (std::uint64_t n = 0; n < rounds; ++n) {
      std::fill_n(mine, kLongArray, static_cast<double>(n));
      splitc::barrier();
      std::memcpy(copy.data(), theirs, kLongArray * sizeof(double));
      right = right && copy.back() == static_cast<double>(n);
      splitc::barrier();
    }
    const double ns = watch.elapsed_ns() / static_cast<double>(rounds);
    splitc::all_free(mine);
    if (!right) throw Error(std::errc::protocol_error, "a copied array is wrong");
    return ns;
  }

  double broadcast_array_ns() {
    const std::uint64_t rounds = iterations(200);
    std::vector<double> data(kLongArray);
    bool right = true;
    Stopwatch watch;
    for (std::uint64_t n = 0; n < rounds; ++n) {
      if (MYPROC == 0) std::fill(data.begin(), data.end(), static_cast<double>(n));
      splitc::all_bcast(data.data(), data.size());
      right = right && data.back() == static_cast<double>(n);
    }
    if (!right) throw Error(std::errc::protocol_error, "a broadcast array is wrong");
    return watch.elapsed_ns() / static_cast<double>(rounds);
  }

  double all_reduce_array_ns(std::size_t count) {
    const std::uint64_t rounds = iterations(count < kLongArray ? 20'000 : 200);
    std::vector<double> data(count);
    double last = 0;
    Stopwatch watch;
    for (std::uint64_t n = 0; n < rounds; ++n) {
      std::fill(data.begin(), data.end(), static_cast<double>(n));
      splitc::all_reduce(data.data(), count, splitc::Add{});
      last = data.back();
    }
    const double ns = watch.elapsed_ns() / static_cast<double>(rounds);
    if (last != 2.0 * static_cast<double>(rounds - 1))
      throw Error(std::errc::protocol_error, "the all-reduce gave a wrong sum");
    return ns;
  }

  /// Half of the time of a read that the owner answers.
  double read_rtt_half_ns() {
    splitc::force_path(Path::message);
    const std::uint64_t rounds = iterations(20'000);
    double ns = 0;
    std::uint64_t sum = 0;
    splitc::barrier();
    if (MYPROC == 0) {
      const Stopwatch watch;
      for (std::uint64_t n = 0; n < rounds; ++n) sum += splitc::read(words_);
      ns = watch.elapsed_ns() / static_cast<double>(rounds) / 2;
      if (sum != rounds * splitc::read(words_))
        throw Error(std::errc::protocol_error, "the reads gave a wrong sum");
    }
    splitc::barrier();
    return ns;
  }

  /// Words of 8 bytes from rank 0 to rank 1: from the first store until rank 1 has counted all.
  double store_mps() {
    const std::uint64_t stores = iterations(2'000'000);
    splitc::barrier();
    Stopwatch watch;
    if (MYPROC == 0)
      for (std::uint64_t n = 0; n < stores; ++n)
        splitc::store(words_ + static_cast<std::int64_t>(n % kElements), n);
    else
      splitc::store_sync(8 * stores);
    splitc::barrier();
    const double ns = watch.elapsed_ns();
    splitc::all_store_sync();
    return static_cast<double>(stores) / ns * 1e3;
  }

  /// The same in both directions at once: all stores together.
  double store_both_mps() {
    const std::uint64_t stores = iterations(1'000'000);
    splitc::barrier();
    const Stopwatch watch;
    for (std::uint64_t n = 0; n < stores; ++n)
      splitc::store(other_words_ + static_cast<std::int64_t>(n % kElements), n);
    splitc::store_sync(8 * stores);
    splitc::barrier();
    const double ns = watch.elapsed_ns();
    splitc::all_store_sync();
    return 2 * static_cast<double>(stores) / ns * 1e3;
  }

  /// Functions that rank 1 runs for rank 0: from the first call until all have run.
  double atomic_put_mps() {
    const std::uint64_t calls = iterations(2'000'000);
    const std::uint64_t before = splitc::read(words_);
    splitc::barrier();
    const Stopwatch watch;
    if (MYPROC == 0)
      for (std::uint64_t n = 0; n < calls; ++n) splitc::atomic_put<add>(words_, n);
    splitc::sync();
    splitc::barrier();
    const double ns = watch.elapsed_ns();
    if (splitc::read(words_) != before + calls * (calls - 1) / 2)
      throw Error(std::errc::protocol_error, "the functions gave a wrong sum");
    splitc::barrier();
    return static_cast<double>(calls) / ns * 1e3;
  }

  OpsOptions options_;
  Yardsticks yardsticks_;
  am::Context context_;
  AmLink am_;
  Ops<char> char_;
  Ops<short> short_;
  Ops<int> int_;
  Ops<long> long_;
  Ops<float> float_;
  Ops<double> double_;
  BlockOps blocks_;
  global_ptr<std::uint64_t> words_;        // at rank 1
  global_ptr<std::uint64_t> other_words_;  // at the other rank
  Measurements list_;
};

int measure(int argc, char** argv) {
  program::CommandLine app("Measures every operation of Split-C, for each type and path.");
  OpsOptions options;
  add_common_options(app, options);
  app.option("--type", options.types, "Only these types, for example int,double")
      .separated_by(',')
      .one_of({"char", "short", "int", "long", "float", "double"});
  app.flag("--blocks", options.blocks, "Also blocks of 16 to 4096 bytes, by each path");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, MYPROC == 0)) return exit_code;
  require_provider(options);
  if (PROCS != 2)
    throw Error(std::errc::invalid_argument,
                "splitc-ops measures two ranks; run it as: viaduct-run -n 2 --bind splitc-ops");
  Job& job = splitc::job();
  const Role role = MYPROC == 0 ? Role::sender : Role::peer;
  std::byte* const block = share_block(job, Yardsticks::block_bytes(), Rank{1});
  require_own_core(job, block, role);
  SplitcOps ops(job, block, role, options);
  const Figures figures = ops.run();
  if (role != Role::sender) return 0;
  conclude(figures, job, options.json_file);
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int splitc_main(int argc, char** argv) { return viaduct::bench::measure(argc, argv); }
