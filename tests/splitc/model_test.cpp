/// @file
/// Random operations of every kind, on values of every type, in memory of every kind in every
/// process, against what must come of them.
///
///     viaduct-run -n 4 splitc_model [--seed N] [--phases N] [--ops N]

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>

#include "tests/splitc/model_parts.hpp"
#include "tests/splitc/model_run.hpp"

namespace {

using namespace viaduct::splitc_test;
namespace splitc = viaduct::splitc;

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

/// Half of the phases meet in a split barrier.
void meet(const Place& place) {
  if (place.phase % 2 == 0) return splitc::barrier();
  splitc::barrier_notify();
  if (place.phase % 4 == 1)
    while (!splitc::barrier_try()) {
    }
  splitc::barrier_wait();
}

void run_phase(const Options& options, std::uint32_t number, Memory& memory, Contents& contents,
               std::byte* landing) {
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
  CLI::App app{"Random operations against a sequential model"};
  app.add_option("--seed", options.seed, "the same seed, the same operations");
  app.add_option("--phases", options.phases, "phases, with barriers between");
  app.add_option("--ops", options.ops, "operations of each process in each phase");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
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
  splitc::barrier();
  std::vector<std::byte> heap_landing(kMaxLanding);
  std::byte stack_landing[kMaxLanding];
  for (std::uint32_t i = 0; i < options.phases; ++i)
    run_phase(options, i, memory, contents, i % 2 == 0 ? heap_landing.data() : stack_landing);
  run_contended(options.seed);
  run_blocks(options.seed);
  return 0;
}
