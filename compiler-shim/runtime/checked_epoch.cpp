/// The end of an epoch: each process gets the others' accesses of its memory, and process 0 gets
/// the races that were found.

#include <fmt/format.h>
#include <cstdio>
#include <memory>
#include <string>

#include "compiler-shim/runtime/checked_state.hpp"
#include "viaduct/splitc/bulk.hpp"
#include "viaduct/splitc/collective.hpp"
#include "viaduct/splitc/settings.hpp"
#include "viaduct/splitc/sync.hpp"

namespace viaduct::shim::checked {

State* state = nullptr;

namespace {

namespace detail = viaduct::splitc::detail;

/// A block of memory that others read. They find the block by the address of the Published
/// variable, which is the same in all processes.
struct Published {
  std::uint64_t address = 0;
  std::uint64_t count = 0;
};

std::vector<Published> rows;  // of this process' accesses, one for each owner
Published published_rows;
Published published_races;

template <class T>
Published publish(const std::vector<T>& block) {
  return {reinterpret_cast<std::uintptr_t>(block.data()), block.size()};
}

template <class T>
T fetch(std::uint32_t process, const T* there) {
  T here;
  detail::bulk_read(&here, detail::make_word(process, reinterpret_cast<std::uintptr_t>(there)),
                    sizeof here);
  return here;
}
template <class T>
void fetch_block(std::uint32_t process, const Published& block, std::vector<T>& to) {
  if (block.count == 0) return;
  const std::size_t before = to.size();
  to.resize(before + block.count);
  detail::bulk_read(to.data() + before, detail::make_word(process, block.address),
                    block.count * sizeof(T));
}

std::vector<Interval> accesses_of_others() {
  std::vector<Interval> others;
  for (std::uint32_t i = 1; i < detail::hot.procs; ++i) {
    const std::uint32_t process = (detail::hot.myproc + i) % detail::hot.procs;
    const Published table = fetch(process, &published_rows);
    const auto* const row = reinterpret_cast<const Published*>(table.address);
    fetch_block(process, fetch(process, row + detail::hot.myproc), others);
  }
  return others;
}

void report_all(const std::vector<Race>& own) {
  for (const Race& race : own) report(race);
  for (std::uint32_t process = 1; process < detail::hot.procs; ++process) {
    std::vector<Race> found;
    fetch_block(process, fetch(process, &published_races), found);
    for (const Race& race : found) report(race);
  }
}

std::uint64_t largest(std::uint64_t value) { return splitc::all_reduce(value, splitc::Max{}); }

// The first reduction tells that all tables are complete, the second one that all have been read.
void compare_with_others() {
  const std::vector<std::vector<Interval>> by_owner = accesses_by_owner();
  std::uint64_t all = 0;
  rows.clear();
  for (const std::vector<Interval>& of : by_owner) {
    rows.push_back(publish(of));
    all += of.size();
  }
  published_rows = publish(rows);
  if (largest(all) == 0) return;
  const std::vector<Race> races = find_races(accesses_of_others());
  published_races = publish(races);
  if (largest(races.size()) == 0) return;
  if (detail::hot.myproc == 0) report_all(races);
  splitc::barrier();  // the others answer until process 0 has read all
}

void begin() {
  const splitc::Settings settings = splitc::load_settings();
  static std::unique_ptr<State> own;
  own = std::make_unique<State>(static_cast<std::size_t>(settings.checked_bytes),
                                settings.checked_fatal);
  state = own.get();
}

void end_epoch() {
  if (state == nullptr) return;
  if (detail::hot.procs > 1) compare_with_others();
  state->shadow.clear();
  state->clock = {};
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void summary(std::uint64_t accesses, bool is_full) {
  const std::size_t found = reports();
  const std::string where =
      fmt::format("{} accesses of {} process{}", accesses, detail::hot.procs,
                  detail::hot.procs == 1 ? ", which has no other to race with" : "es");
  std::string text = found == 0
                         ? fmt::format("splitcc --checked: no race seen in {}\n", where)
                         : fmt::format("splitcc --checked: {} pair{} of lines race{}, in {}\n",
                                       found, found == 1 ? "" : "s", found == 1 ? "s" : "", where);
  if (accesses == 0)
    text =
        "splitcc --checked: no access was seen: no file of the program was compiled with "
        "--checked\n";
  if (is_full)
    text +=
        "splitcc --checked: accesses were left out, since the memory for notes was used up: raise "
        "VIADUCT_CHECKED_BYTES, or put barriers closer together\n";
  say(text);
}

int finish(int exit_code) {
  if (state == nullptr) return exit_code;
  bool found = false;
  if (exit_code == 0) {
    end_epoch();
    const std::uint64_t accesses = splitc::all_reduce(state->accesses, splitc::Add{});
    const bool is_full = largest(state->shadow.is_full() ? 1 : 0) != 0;
    if (detail::hot.myproc == 0) summary(accesses, is_full);
    found = splitc::all_bcast(std::uint64_t{reports()}) != 0;
  }
  constexpr int kRaceCode = 66;
  if (found && state->fatal) exit_code = kRaceCode;
  state = nullptr;
  return exit_code;
}

void bulk(Kind kind, std::uint64_t remote, const void* local, std::size_t bytes,
          const void* caller) {
  if (!is_noting()) return;
  const bool writes =
      kind == Kind::bulk_write || kind == Kind::bulk_put || kind == Kind::bulk_store;
  state->clock.poll();
  note(remote, bytes, writes, kind, caller);
  note_local(local, bytes, !writes, kind, caller);
  if (!writes) state->clock.read();
  if (kind == Kind::bulk_store) state->clock.release();
}

void release() {
  if (!is_noting()) return;
  state->clock.poll();
  state->clock.publish();
}
void acquire() {
  if (!is_noting()) return;
  state->clock.poll();
  state->clock.acquire();
}

void poll() {
  if (is_noting()) state->clock.poll();
}

constexpr Hooks kHooks = {begin, bulk, release, acquire, poll, end_epoch, finish};

}  // namespace

const Hooks& checker_hooks() { return kHooks; }

}  // namespace viaduct::shim::checked
