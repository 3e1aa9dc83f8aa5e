#include "benchmarks/common/idle_poll.hpp"

#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "benchmarks/common/stopwatch.hpp"
#include "viaduct/am/token.hpp"
#include "viaduct/job.hpp"

namespace viaduct::bench {
namespace {

// Written by the handlers of this rank, which may be a thread.
thread_local std::uint32_t answers = 0;
thread_local std::size_t stops = 0;

void on_answer(am::Token&) { ++answers; }
void on_question(am::Token& token) { token.reply<on_answer>(); }
void on_stop(am::Token& token) {
  ++stops;
  token.reply<on_answer>();
}

// The number of @p rank's connections among 0 to most - 1, which are dealt out to the ranks from 1
// on in turn.
std::uint32_t targets_of(std::uint32_t rank, std::uint32_t most, std::uint32_t ranks) {
  return rank == 0 ? 0 : (most + ranks - 1 - rank) / (ranks - 1);
}

void require(Status status, const char* what) {
  if (status != Status::ok)
    throw std::runtime_error(fmt::format("{} of an idle poll's peer: {}", what, to_string(status)));
}

}  // namespace

PollTargets::PollTargets(am::Context& context, std::uint32_t most) : bundle_(context) {
  stops = 0;
  const Job& job = context.job();
  for (std::uint32_t i = targets_of(index(job.rank()), most, job.size()); i != 0; --i)
    endpoints_.push_back(std::make_unique<am::Endpoint>(bundle_));
}

void PollTargets::serve() {
  require(bundle_.wait_until([&] { return stops == endpoints_.size(); }), "the service");
}

IdlePoll::IdlePoll(am::Context& context, std::uint16_t first, std::uint32_t peers)
    : bundle_(context), endpoint_(bundle_), peers_(peers) {
  const std::uint32_t others = context.job().size() - 1;
  for (std::uint32_t i = 0; i < peers; ++i) {
    const auto number = static_cast<std::uint16_t>(first + i / others);
    require(endpoint_.map(am::Index{i}, {Rank{1 + i % others}, number}, am::kTagAll), "the MAP");
  }
  ask_all();  // connects the peers, and may block meanwhile
  ask_all();
}

// Polls for the answers instead of blocking: a bundle that blocks asks all peers to ring a
// doorbell, and then need not look at their channels. The measurement needs a bundle that looks at
// as many channels as a bundle ever does.
void IdlePoll::ask_all() {
  for (std::uint32_t i = 0; i < peers_; ++i) {
    answers = 0;
    require(endpoint_.request<on_question>(am::Index{i}), "the request");
    while (answers == 0) {
      if (bundle_.poll() == 0) std::this_thread::yield();
    }
  }
}

double IdlePoll::poll_ns(std::uint64_t polls) {
  std::uint64_t found = 0;
  const Stopwatch watch;
  for (std::uint64_t i = 0; i < polls; ++i) found += bundle_.poll();
  const double ns = watch.elapsed_ns() / static_cast<double>(polls);
  if (found != 0)
    throw std::runtime_error(fmt::format("{} messages came while polls were to be idle", found));
  return ns;
}

void IdlePoll::stop_targets() {
  answers = 0;
  for (std::uint32_t i = 0; i < peers_; ++i)
    require(endpoint_.request<on_stop>(am::Index{i}), "the request");
  require(bundle_.wait_until([&] { return answers == peers_; }), "the answer");
}

}  // namespace viaduct::bench
