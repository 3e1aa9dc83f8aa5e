/// @file
/// Random operations of every kind, on values of every type, in memory of every kind in every
/// process, against what must come of them.
///
///     viaduct-run -n 4 splitc_model [--seed N] [--phases N] [--ops N]

#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "runtime/program/command_line.hpp"
#include "tests/splitc/model_parts.hpp"
#include "tests/splitc/model_run.hpp"

namespace {

using namespace viaduct::splitc_test;
namespace splitc = viaduct::splitc;

/// So many operations hold each pair of an operation and a type.
constexpr std::uint32_t kEnoughOps = 1800;

struct Options {
  std::uint64_t seed = 0;
  std::uint32_t phases = 24;
  std::uint32_t ops = 150;
};

/// Each arena full of bytes that the seed gives.
void fill(const Options& options, Memory& memory, Contents& contents) {
  for (std::uint32_t q = 0; q < static_cast<std::uint32_t>(PROCS); ++q)
    for (std::uint32_t arena = 0; arena < kArenas; ++arena)
      Random(mixed(options.seed, q, arena)).fill(contents.at(q, arena, 0), kArenaBytes);
  for (std::uint32_t arena = 0; arena < kArenas; ++arena)
    std::memcpy(memory.mine(arena), contents.at(static_cast<std::uint32_t>(MYPROC), arena, 0),
                kArenaBytes);
}

/// By one of the ways in which the target may learn that all stores have come. After each of them
/// nothing is counted any more.
void end_stores(const Place& place, std::uint64_t expected) {
  const std::uint64_t first = expected / 3;
  switch (mixed(place.seed, place.phase, 77) % 4) {
    case 0:
      splitc::all_store_sync();
      break;
    case 1:
      splitc::store_sync(first);
      splitc::store_sync(expected - first);
      break;
    case 2:
      while (!splitc::is_stored(expected)) {
      }
      splitc::store_sync(expected);
      break;
    default:
      while (!splitc::is_stored(expected)) {
      }
      splitc::reset_store_sync();
      break;
  }
  if (splitc::is_stored(1)) fail(place, "more bytes of stores were counted than were stored");
  if (!splitc::is_stored(0)) fail(place, "is_stored(0) is not true");
}

/// store_sync() takes the bytes that it was asked for. Those of a second store, which have come
/// already, stay for the next call.
void expect_others_stay(const Place& place) {
  constexpr std::size_t kOne = sizeof(long);
  long* const here = splitc::all_malloc<long>(2);
  const auto there = splitc::toglobal((MYPROC + 1) % PROCS, here);
  splitc::store(there, 1);
  splitc::store(there + 1, 2);
  while (!splitc::is_stored(2 * kOne)) {
  }
  splitc::store_sync(kOne);
  if (!splitc::is_stored(kOne)) fail(place, "store_sync() took the bytes of a second store too");
  splitc::store_sync(kOne);
  if (splitc::is_stored(1)) fail(place, "store_sync() left bytes that it had to take");
  splitc::all_free(here);
}

/// Half of the phases meet in a split barrier.
void meet(const Place& place) {
  if (place.phase % 2 == 0) return splitc::barrier();
  splitc::barrier_notify();
  if (place.phase % 4 == 1)
    while (!splitc::barrier_try()) {
    }
  splitc::barrier_wait();
}

/// Which operations have been done with which types: by kind, a bit for each type.
using Done = std::array<std::uint32_t, kDataKinds>;
static_assert(kTypes <= 32);

/// Every operation with every type that it takes, in some process. Runs that were asked to be short
/// need not.
void expect_all_done(const Place& place, const Done& mine, bool is_long) {
  const Done all = splitc::all_reduce(mine, [](Done a, const Done& b) {
    for (std::uint32_t kind = 0; kind < kDataKinds; ++kind) a[kind] |= b[kind];
    return a;
  });
  std::size_t missing = 0;
  const char* example = "";
  for (const Pair pair : all_pairs()) {
    if ((all[static_cast<std::uint32_t>(pair.kind)] >> pair.type & 1) != 0) continue;
    ++missing;
    example = name_of(pair.kind);
  }
  if (MYPROC == 0) fmt::print("{} of {} pairs\n", all_pairs().size() - missing, all_pairs().size());
  if (is_long && missing != 0)
    fail(place, fmt::format("{} pairs of an operation and a type were never tried: {}...", missing,
                            example));
}

void run_phase(const Options& options, std::uint32_t number, Memory& memory, Contents& contents,
               std::byte* landing, Done& done) {
  const Place place{options.seed, number};
  const auto procs = static_cast<std::uint32_t>(PROCS);
  const auto me = static_cast<std::uint32_t>(MYPROC);
  const Phase phase{options.seed, number, procs, options.ops, number % 5 == 4};
  std::vector<std::uint64_t> stored(procs);
  Plan mine;
  for (std::uint32_t process = 0; process < procs; ++process) {
    Plan plan = make_plan(phase, process, contents, stored);
    if (process == me) mine = std::move(plan);
  }
  Runner(memory, place, mine, landing).run();
  for (const Op& op : mine.ops)
    if (op.kind < Kind::poll) done[static_cast<std::uint32_t>(op.kind)] |= 1U << op.type;
  end_stores(place, stored[me]);
  meet(place);
  for (std::uint32_t arena = 0; arena < kArenas; ++arena)
    expect_bytes(place, fmt::format("after the phase, {}", kArenaNames[arena]), memory.mine(arena),
                 contents.at(me, arena, 0), kArenaBytes);
  splitc::barrier();
}

/// The seed of process 0 is everybody's.
Options parse(int argc, char** argv) {
  Options options;
  options.seed =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  viaduct::program::CommandLine app{"Random operations against a sequential model"};
  app.option("--seed", options.seed, "the same seed, the same operations");
  app.option("--phases", options.phases, "phases, with barriers between");
  app.option("--ops", options.ops, "operations of each process in each phase");
  int exit_code = 0;
  if (!app.read(argc, argv, exit_code, MYPROC == 0)) std::exit(exit_code);
  options.seed = splitc::all_bcast(options.seed);
  return options;
}

}  // namespace

int splitc_main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (MYPROC == 0) fmt::print("splitc_model --seed {}\n", options.seed);
  std::fflush(stdout);
  alignas(128) std::byte stack[kArenaBytes];
  Memory memory(stack);
  Contents contents(static_cast<std::uint32_t>(PROCS));
  fill(options, memory, contents);
  expect_others_stay({options.seed, 0});
  splitc::barrier();
  std::vector<std::byte> heap_landing(kMaxLanding);
  std::byte stack_landing[kMaxLanding];
  Done done{};
  for (std::uint32_t i = 0; i < options.phases; ++i)
    run_phase(options, i, memory, contents, i % 2 == 0 ? heap_landing.data() : stack_landing, done);
  const std::uint32_t tried = options.phases * options.ops * static_cast<std::uint32_t>(PROCS);
  expect_all_done({options.seed, options.phases}, done, tried >= kEnoughOps);
  run_contended(options.seed);
  run_blocks(options.seed);
  return 0;
}
