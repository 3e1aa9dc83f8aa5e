// A victim, and its peers: requests and replies between all ranks for ever, with time spent in each
// state that a rank can be killed in, and published in the driver's page.
//
//     traffic PAGE_FD          until killed
//     traffic PAGE_FD survive  goes on when a peer is lost, for some rounds, then ends well

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/fault/states.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"

namespace am = viaduct::am;
using fault::State;
using viaduct::Status;

namespace {

constexpr std::uint32_t kBurst = 4;  // requests to each peer in a round
constexpr std::uint64_t kComputeNs = 1'000'000;
constexpr std::uint64_t kHandlerNs = 60'000;
constexpr std::uint32_t kRoundsAfterLoss = 10;

fault::Page* page = nullptr;
fault::RankLine* line = nullptr;

void compute(std::uint64_t ns) {
  const std::uint64_t until = viaduct::monotonic_ns() + ns;
  while (viaduct::monotonic_ns() < until) {
  }
}

void on_answer(am::Token& token, std::uint64_t) {
  line->replied[index(token.source_rank())].fetch_add(1);
}

void on_work(am::Token& token, std::uint64_t number) {
  const State outer = line->state.exchange(State::in_handler);
  compute(kHandlerNs);
  line->handled[index(token.source_rank())].fetch_add(1);
  token.reply<on_answer>(number + 1);
  line->state.store(outer);
}

void notice() {
  std::uint64_t not_yet = 0;
  line->noticed_ns.compare_exchange_strong(not_yet, viaduct::monotonic_ns());
}

/// False when something else than the loss of a peer went wrong.
bool send_burst(viaduct::Job& job, am::Endpoint& endpoint) {
  for (std::uint32_t k = 0; k < kBurst; ++k)
    for (std::uint32_t step = 1; step < job.size(); ++step) {
      const std::uint32_t to = (index(job.rank()) + step) % job.size();
      const Status status = endpoint.request<on_work>(am::Index{to}, std::uint64_t{k});
      if (status == Status::ok) {
        line->sent[to].fetch_add(1);
      } else if (status == Status::peer_lost) {
        line->peer_lost.fetch_add(1);
        notice();
      } else {
        return false;
      }
    }
  return true;
}

/// Whether every request to a peer that lives has been answered.
bool answered(const viaduct::Job& job) {
  for (std::uint32_t r = 0; r < job.size(); ++r)
    if (!job.is_lost(viaduct::Rank{r}) && line->replied[r] + line->returned[r] < line->sent[r])
      return false;
  return true;
}

bool all_done(const viaduct::Job& job) {
  for (std::uint32_t r = 0; r < job.size(); ++r)
    if (!job.is_lost(viaduct::Rank{r}) && page->ranks[r].done == 0) return false;
  return true;
}

int body(viaduct::Job& job, int argc, char** argv) {
  const bool survive = argc > 2 && std::strcmp(argv[2], "survive") == 0;
  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  endpoint.set_undeliverable_handler([](const am::Returned& returned) {
    if (returned.direction == am::Direction::request)
      line->returned[index(returned.rank)].fetch_add(1);
    if (returned.status == am::Undeliverable::unreachable) notice();
  });

  for (std::uint32_t left = kRoundsAfterLoss; left != 0;) {
    line->state.store(State::idle);
    compute(kComputeNs);
    if (!send_burst(job, endpoint)) return 3;
    line->state.store(State::holding);
    compute(kComputeNs);
    line->state.store(State::waiting);
    if (bundle.wait_until([&] { return answered(job); }) != Status::ok) return 4;
    line->rounds.fetch_add(1);
    if (survive && line->noticed_ns != 0) --left;
  }
  line->done.store(1);
  // The others may still ask something of us. A flag in shared memory rings no doorbell, hence the
  // limit.
  while (!all_done(job)) (void)bundle.wait(5'000'000);
  line->state.store(State::finished);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const rank = std::getenv("VIADUCT_RANK");
  if (argc < 2 || rank == nullptr) return 2;
  page = &fault::Page::attach(std::atoi(argv[1]));
  line = &page->ranks[std::strtoul(rank, nullptr, 10) % fault::kMaxRanks];
  line->pid.store(::getpid());
  return viaduct::run(body, argc, argv);
}
