#include "tests/splitc/litmus_world.hpp"

#include <sched.h>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>

#include "tests/splitc/off_node.hpp"

namespace viaduct::splitc_test {
namespace {

using splitc::global_ptr;

constexpr std::uint32_t kMaxRanks = 16;
// Ranks may be threads: each has an element.
CellPair g_static[kMaxRanks][kRuns];

unsigned path_of_environment() {
  const char* const value = std::getenv("VIADUCT_SPLITC_PATH");
  const std::string path = value == nullptr ? "auto" : value;
  const unsigned here = path == "message" ? kMessage : path == "rdma" ? kRdma : kDirect;
  const unsigned between_hosts = path == "rdma" ? kRdma | kBetweenHosts | kMessage : kMessage;
  return all_off_node() ? between_hosts : any_off_node() ? here | between_hosts : here;
}

}  // namespace

World::World(CellPair* on_stack)
    : own_(splitc::all_malloc<Own>(1)),
      spread_(splitc::all_malloc<CellPair>(kRuns)),
      path_(path_of_environment()) {
  handshake_ = (path_ & kMessage) == 0;
  const std::array<CellPair*, 3> mine{spread_, g_static[MYPROC], on_stack};
  for (std::size_t where = 0; where < mine.size(); ++where)
    cells_[where] = splitc::all_gather(splitc::toglobal(mine[where]));
  splitc::barrier();
}

World::~World() {
  if (std::uncaught_exceptions() != 0) return;  // others do not come to the calls below
  splitc::barrier();
  splitc::all_free(spread_);
  splitc::all_free(own_);
}

Layout World::choose(const Case& subject, std::uint64_t seed) const {
  Random random(seed);
  const auto procs = static_cast<std::uint32_t>(PROCS);
  Layout layout;
  const std::uint32_t first = random.below(procs);
  for (std::uint32_t role = 0; role < kMaxRoles; ++role)
    layout.ranks[role] = (first + role) % procs;
  const std::array<std::uint32_t, 3> owners{layout.ranks[0], layout.ranks[1],
                                            layout.ranks[subject.roles % kMaxRoles]};
  layout.x_owner = owners[random.below(3)];
  layout.y_owner = owners[random.below(3)];
  if (subject.owners == Owners::x_at_0) layout.x_owner = layout.ranks[0];
  if (subject.owners == Owners::y_at_1) layout.y_owner = layout.ranks[1];
  if (subject.owners == Owners::both_at_1) layout.x_owner = layout.y_owner = layout.ranks[1];
  // Mostly spread memory: it is where most can happen.
  const auto where = [&] {
    const std::uint32_t n = random.below(6);
    return n == 0 ? Where::stack : n == 1 ? Where::fixed : Where::spread;
  };
  layout.x_where = where();
  layout.y_where = where();
  layout.one_sided = layout.x_where == Where::spread && (path_ & kMessage) == 0;
  layout.paths = path_;
  if (layout.x_where != Where::spread || layout.y_where != Where::spread) layout.paths |= kMessage;
  layout.by_clock = random.below(2) == 0;
  layout.runs = std::min({subject.runs, kRuns, (path_ & kMessage) != 0 || procs > 2 ? 64U : 128U});
  return layout;
}

global_ptr<CellPair> World::pair(std::uint32_t owner, Where where, std::uint32_t run) const {
  return cells_[static_cast<std::size_t>(where)][owner] + run;
}

void World::clear(const Layout& layout) {
  const auto me = static_cast<std::uint32_t>(MYPROC);
  for (std::uint32_t i = 0; i < layout.runs; ++i) {
    if (layout.x_owner == me) *splitc::tolocal(pair(me, layout.x_where, i)) = {};
    if (layout.y_owner == me) *splitc::tolocal(pair(me, layout.y_where, i)) = {};
  }
  own_->gate = 0;
  own_->start = start_ = 0;
}

void await(global_ptr<long> word, long least) {
  for (int looks = 1; splitc::read(word) < least; ++looks)
    if (looks % 400 == 0) sched_yield();
}

/// Lets roles 0 and 1 begin together; the others come when they come.
void World::meet(const Layout& layout, std::uint32_t role, long run) {
  if (handshake_ && role < 2) {
    splitc::write(splitc::toglobal(static_cast<int>(layout.ranks[1 - role]), &own_->gate), run);
    await(splitc::toglobal(&own_->gate), run);
    if (layout.by_clock) agree_on_start(layout, role);
  }
  pause_for(random_below(4) * random_below(150));
}

/// One of the two hears from the other a hand-over later: so they agree on a time that both can
/// wait for.
void World::agree_on_start(const Layout& layout, std::uint32_t role) {
  constexpr long kCycles = 2'000;  // more than a hand-over takes
  if (role == 0) {
    start_ = std::max(start_ + 1, clock_cycles() + kCycles);
    splitc::write(splitc::toglobal(static_cast<int>(layout.ranks[1]), &own_->start), start_);
  } else {
    await(splitc::toglobal(&own_->start), start_ + 1);
    start_ = own_->start;
  }
  const long left = start_ - clock_cycles();
  if (left > 0) pause_for(static_cast<std::uint64_t>(std::min(left, kCycles)));
}

void World::run_batch(const Case& subject, const Layout& layout) {
  const auto me = static_cast<std::uint32_t>(MYPROC);
  std::uint32_t role = kMaxRoles;
  for (std::uint32_t i = 0; i < subject.roles; ++i)
    if (layout.ranks[i] == me) role = i;
  clear(layout);
  splitc::barrier();
  std::vector<Results> results(layout.runs);
  for (std::uint32_t i = 0; i < layout.runs; ++i) {
    ++round_;
    if (role == kMaxRoles && !subject.collective) continue;
    const auto x = pair(layout.x_owner, layout.x_where, i).field(&CellPair::x);
    const auto y = pair(layout.y_owner, layout.y_where, i).field(&CellPair::y);
    Instance instance;
    instance.x = x.field(&Cell::word);
    instance.y = y.field(&Cell::word);
    instance.x_block = global_ptr<std::byte>(x.field(&Cell::block));
    instance.x_large = splitc::toglobal(static_cast<int>(layout.x_owner), own_->large);
    instance.own_word = splitc::toglobal(&own_->word);
    instance.own_lock = splitc::toglobal(&own_->lock);
    instance.role = role;
    instance.round = round_;
    instance.one_sided = layout.one_sided;
    if (role < subject.roles && subject.roles > 1 && !subject.collective)
      meet(layout, role, static_cast<long>(i) + 1);
    subject.body(instance);
    results[i] = instance.r;
  }
  if (role < subject.roles)
    splitc::bulk_write(splitc::toglobal(0, own_->results[role]), results.data(), layout.runs);
  splitc::all_store_sync();
  splitc::barrier();
}

Outcome World::outcome(const Case& subject, const Layout& layout, std::uint32_t run) const {
  Outcome outcome;
  for (std::uint32_t role = 0; role < subject.roles; ++role)
    outcome.r[role] = own_->results[role][run];
  if (!subject.wants_end) return outcome;
  outcome.x = splitc::read(
      pair(layout.x_owner, layout.x_where, run).field(&CellPair::x).field(&Cell::word));
  outcome.y = splitc::read(
      pair(layout.y_owner, layout.y_where, run).field(&CellPair::y).field(&Cell::word));
  return outcome;
}

}  // namespace viaduct::splitc_test
