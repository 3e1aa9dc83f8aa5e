// mapping-work and mapping-parts: the programs that benchmark `mapping` starts to measure one form
// and one operation. The two are one source: in mapping-parts the library is instrumented. They
// write JSON for `mapping`; see docs/mapping.md.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "benchmarks/common/options.hpp"
#include "benchmarks/common/shared_block.hpp"
#include "benchmarks/common/yardsticks.hpp"
#include "benchmarks/mapping/round_trips.hpp"
#include "benchmarks/mapping/turns.hpp"
#include "runtime/program/json.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/splitc.hpp"

namespace viaduct::bench {
namespace {

constexpr std::uint64_t kDefinedOperations = 60'000;
constexpr std::uint64_t kWarmUp = 1'000;
constexpr std::uint64_t kHandOvers = 3'000;

struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t replies = 0;
  std::uint64_t sum = 0;
};
constinit thread_local Seen seen;

void on_reply(am::Token&, std::uint64_t a, std::uint64_t b) {
  seen.sum += a + b;
  ++seen.replies;
}
void on_request(am::Token& token, std::uint64_t a, std::uint64_t b) {
  ++seen.requests;
  token.reply<on_reply>(a, b);
}

void require(Status status, const char* what) {
  if (status != Status::ok) throw std::runtime_error(std::string(what) + ": " + to_string(status));
}

struct Names {
  static constexpr const char* kParts[kMostParts] = {
      "send_done",    "post_send", "recv_done", "post_recv", "recycle_send",
      "recycle_recv", "build",     "cq_send",   "cq_recv",   "bookkeeping",
      "processing",   "read_data", "act",       "publish"};
};

/// The work of both ranks.
Work both(Pair& pair, const Work& mine) {
  Work sum = mine;
  const auto add = [&](double& to, double own) { to = own + pair.exchange(own); };
  add(sum.total_ns, mine.total_ns);
  sum.boundary_ns = pair.from_sender(mine.boundary_ns);
  for (std::size_t i = 0; i < kMostParts; ++i) {
    add(sum.parts[i].ns, mine.parts[i].ns);
    add(sum.parts[i].entries, mine.parts[i].entries);
  }
  return sum;
}

program::Json to_json(const Work& work) {
  program::Json parts;
  for (std::size_t i = 0; i < kMostParts; ++i)
    parts.set(Names::kParts[i],
              program::Json().set("ns", work.parts[i].ns).set("entries", work.parts[i].entries));
  return program::Json()
      .set("total_ns", work.total_ns)
      .set("boundary_ns", work.boundary_ns)
      .set("parts", parts);
}

/// Requests of two words and their replies.
Work requests_in_turn(am::Context& context, Pair& pair, Rank peer, std::uint64_t operations) {
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  const am::Index to{index(peer)};
  require(endpoint.map(to, {peer, endpoint.name().number}, am::kTagAll), "map");
  // Over VIs a reply may leave only while its sender polls.
  const auto progress = [&] { bundle.poll(); };
  pair.make_progress_by(progress);
  const auto run = [&](Turns& turns, std::uint64_t times) {
    seen = {};
    turns.start();
    for (std::uint64_t i = 0; i < times; ++i) {
      if (pair.is_sender()) {
        VIADUCT_BEGIN_TURN(turns, bookkeeping);
        const Status status = endpoint.request<on_request>(to, i, std::uint64_t{1});
        turns.end();
        require(status, "request");
        turns.pass();
      }
      turns.await();
      VIADUCT_BEGIN_TURN(turns, cq_recv);
      if (pair.is_sender())
        while (seen.replies <= i) bundle.poll();
      else
        while (seen.requests <= i) bundle.poll();
      turns.end();
      if (!pair.is_sender()) turns.pass();
      turns.operation_done();
    }
    if (pair.is_sender() && seen.sum != times * (times - 1) / 2 + times)
      throw std::runtime_error("the replies do not add up");
  };
  if (pair.is_sender()) {  // makes the MAPs
    require(endpoint.request<on_request>(to, std::uint64_t{0}, std::uint64_t{0}), "request");
    require(bundle.wait_until([] { return seen.replies != 0; }), "wait_until");
  } else {
    require(bundle.wait_until([] { return seen.requests != 0; }), "wait_until");
  }
  Turns warm_up(pair, progress);
  run(warm_up, kWarmUp);
  Turns turns(pair, progress);
  run(turns, operations);
  const Work work = both(pair, turns.result());
  require(bundle.barrier(), "barrier");
  pair.make_progress_by({});  // the bundle ends here
  return work;
}

/// Gets of a word of the peer's.
Work gets_in_turn(Pair& pair, std::uint64_t operations) {
  constexpr std::int64_t kWords = 512;
  auto* const mine = splitc::all_malloc<std::uint64_t>(kWords);
  const auto theirs = splitc::toglobal(1, mine);
  const auto progress = [] { splitc::poll(); };
  pair.make_progress_by(progress);
  for (std::int64_t i = 0; i < kWords; ++i) mine[i] = static_cast<std::uint64_t>(i);
  splitc::barrier();
  if (pair.is_sender() && splitc::read(theirs + 1) != 1) throw std::runtime_error("a read failed");
  splitc::barrier();
  std::uint64_t value = 0;
  const auto run = [&](Turns& turns, std::uint64_t times) {
    turns.start();
    for (std::uint64_t i = 0; i < times; ++i) {
      const auto at = static_cast<std::int64_t>(i % kWords);
      if (pair.is_sender()) {
        VIADUCT_BEGIN_TURN(turns, bookkeeping);
        const auto handle = splitc::get(&value, theirs + at);
        turns.end();
        turns.pass();
        turns.await();
        VIADUCT_BEGIN_TURN(turns, cq_recv);
        splitc::wait(handle);
        turns.end();
        if (value != static_cast<std::uint64_t>(at)) throw std::runtime_error("a get failed");
      } else {
        turns.await();
        VIADUCT_BEGIN_TURN(turns, cq_recv);
        splitc::poll();
        turns.end();
        turns.pass();
      }
      turns.operation_done();
    }
  };
  Turns warm_up(pair, progress);
  run(warm_up, kWarmUp);
  Turns turns(pair, progress);
  run(turns, operations);
  const Work work = both(pair, turns.result());
  splitc::barrier();
  return work;
}

struct WorkOptions {
  std::string json_file;
  std::uint64_t operations = kDefinedOperations;
};

/// --json FILE [--iters N]: `mapping` calls this program, and has checked the arguments.
WorkOptions read_options(int argc, char** argv) {
  WorkOptions options;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--json") == 0) options.json_file = argv[i + 1];
    if (std::strcmp(argv[i], "--iters") == 0) options.operations = std::stoull(argv[i + 1]);
  }
  options.operations =
      std::max<std::uint64_t>(options.operations, 10 * Turns::kKinds * Turns::kBatch);
  return options;
}

Role begin(Job& job, std::byte*& block) {
  if (job.size() != 2) throw std::runtime_error("needs two ranks");
  const Role role = job.rank() == Rank{0} ? Role::sender : Role::peer;
  block = share_block(job, sizeof(PairPage), Rank{1});
  require_own_core(job, block, role);
  return role;
}

int am_body(Job& job, int argc, char** argv) {
  const WorkOptions options = read_options(argc, argv);
  std::byte* block = nullptr;
  const Role role = begin(job, block);
  const Rank peer = role == Role::sender ? Rank{1} : Rank{0};
  Pair pair(reinterpret_cast<PairPage*>(block), role);
  am::Context context(job);
  const double hand_over = pair.hand_over_ns(kHandOvers);
  program::Json json = to_json(requests_in_turn(context, pair, peer, options.operations));
  json.set("hand_over_ns", hand_over);
#ifndef VIADUCT_INSTRUMENT
  add_am_round_trips(json, job, context, pair, options.operations);
#endif
  if (role == Role::sender) json.write(options.json_file);
  return 0;
}

int get_body(int argc, char** argv) {
  const WorkOptions options = read_options(argc, argv);
  std::byte* block = nullptr;
  const Role role = begin(splitc::job(), block);
  Pair pair(reinterpret_cast<PairPage*>(block), role);
  const double hand_over = pair.hand_over_ns(kHandOvers);
  program::Json json = to_json(gets_in_turn(pair, options.operations));
  json.set("hand_over_ns", hand_over);
#ifndef VIADUCT_INSTRUMENT
  add_get_round_trips(json, splitc::job(), pair, options.operations);
#endif
  if (role == Role::sender) json.write(options.json_file);
  return 0;
}

}  // namespace
}  // namespace viaduct::bench

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "am") == 0)
    return viaduct::run(viaduct::bench::am_body, argc, argv);
  if (argc > 1 && std::strcmp(argv[1], "get") == 0)
    return viaduct::splitc::run(viaduct::bench::get_body, argc, argv);
  std::fputs("usage: started by the benchmark mapping\n", stderr);
  return 2;
}
