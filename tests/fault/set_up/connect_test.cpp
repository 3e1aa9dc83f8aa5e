// The first message between two processes with one failing call in one of them: what it maps of the
// peer, allocates and receives. The message comes back, or the operation throws; the next one
// arrives; the peer waits for nothing; nothing of the connection is left on either side.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "splitc/detail/machine.hpp"
#include "tests/fault/set_up/harness.hpp"
#include "tests/fault/set_up/two_ranks.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/splitc.hpp"

namespace {

using namespace viaduct;
using set_up::Family;
using set_up::is_done;
using set_up::try_family;

/// What both ranks have of Active Messages before they connect.
struct Messages {
  explicit Messages(Job& its_job) : job(its_job) {}
  Job& job;
  am::Context context{job};
  am::Bundle bundle{context};
  std::size_t bytes = job.segment().allocated_bytes();

  /// Connections that end, end with the peer.
  void wait_for_ends() {
    constexpr std::int64_t kLongNs = 5'000'000'000;
    (void)bundle.wait_until([&] { return job.segment().allocated_bytes() == bytes; }, kLongNs);
  }
};
Messages* g_messages = nullptr;  // rank 0's

constexpr std::int32_t kNumber = 7;  // of each rank's endpoint

int g_asked = 0;
int g_answered = 0;
int g_returned = 0;
void on_answer(am::Token&) { ++g_answered; }
void on_ask(am::Token& token) {
  ++g_asked;
  (void)token.reply<on_answer>();
}

/// Asks the peer until it answers. What comes back has met the failing call, so that it does so
/// once.
void ask(am::Endpoint& endpoint, am::Bundle& bundle) {
  endpoint.set_undeliverable_handler([](const am::Returned&) { ++g_returned; });
  const am::EndpointName peer{Rank{1 - index(endpoint.name().rank)}, kNumber};
  if (endpoint.map(am::Index{0}, peer, am::kTagAll) != Status::ok)
    throw std::logic_error("not mapped");
  while (g_answered == 0 && g_returned < 2) {
    const int before = g_returned;
    if (endpoint.request<on_ask>(am::Index{0}) != Status::ok)
      throw std::runtime_error("the peer is lost");
    (void)bundle.wait_until([&] { return g_answered != 0 || g_returned != before; });
    is_done();
  }
  if (g_answered == 0) throw std::logic_error("requests come back without a failing call");
}

/// One request between the two ranks; @p asks: from this one.
void talk(Messages& messages, am::Endpoint& endpoint, bool asks) {
  (void)messages.bundle.barrier();  // both ranks have an endpoint
  if (asks) return ask(endpoint, messages.bundle);
  (void)messages.bundle.wait_until(
      [&] { return g_asked != 0 || messages.job.is_lost(Rank{1 - index(messages.job.rank())}); });
}

/// Rank 0, in whose process a call fails.
void meet_failure(bool asks) {
  try {
    am::Endpoint endpoint(g_messages->bundle, am::kTagAll, kNumber);
    talk(*g_messages, endpoint, asks);
    is_done();
  } catch (const std::exception&) {
    is_done();
    g_messages->wait_for_ends();
    throw;
  }
  g_messages->wait_for_ends();
}

/// Rank 1, which stays until rank 0 is gone.
void be_peer(Job& job, bool asks) {
  Messages messages(job);
  {
    am::Endpoint endpoint(messages.bundle, am::kTagAll, kNumber);
    talk(messages, endpoint, asks);
    (void)messages.bundle.wait_until([&] { return job.is_lost(Rank{0}); });
  }
  if (job.segment().allocated_bytes() != messages.bytes)
    throw std::logic_error("not all of the shared window has been released");
}

void connect_messages(const char* name, bool asks) {
  Family family{name};
  family.prepare = [asks] {
    set_up::fork_peer([asks](Job& job) { be_peer(job, !asks); });
    g_messages = new Messages(*new Job);
  };
  family.attempt = [asks] { meet_failure(asks); };
  family.look = [] {
    return std::vector{"bytes of the shared window: " +
                       std::to_string(g_messages->job.segment().allocated_bytes())};
  };
  // The peer's window, once.
  family.stays = [windows = 0](const std::string& text) mutable {
    const std::string bytes = std::to_string(g_messages->job.segment().window_bytes());
    return text.find("viaduct-window") != std::string::npos ||
           (text.find(" of " + bytes + " bytes") != std::string::npos && ++windows == 1);
  };
  family.once = family.ends = true;
  try_family(family);
}

TEST(SetUpConnecting, MessagesOfTheOneThatAsks) {
  connect_messages("Active Messages, asking", true);
}
TEST(SetUpConnecting, MessagesOfTheOneThatIsAsked) {
  connect_messages("Active Messages, being asked", false);
}

// Split-C.

constexpr long kValue = 4711;
long g_value = 0;  // static data of both processes

/// A process' Split-C, which nothing takes down: that waits for the other process.
splitc::detail::Machine* g_machine = nullptr;

void begin_splitc(Job& job) {
  g_machine = new splitc::detail::Machine(job);
  g_value = index(job.rank()) == 1 ? kValue : 0;
}

void read_from_peer() {
  if (splitc::read(splitc::toglobal(1, &g_value)) != kValue)
    throw std::logic_error("a wrong value");
}

void serve_until(const std::function<bool()>& done) { g_machine->wait_until("serve", 1, done); }

/// Process 1: writes to process 0 if that is its part, and serves until that one is gone.
void be_process(Job& job, bool asks) {
  begin_splitc(job);
  job.bootstrap().fence();
  try {
    if (asks) splitc::write(splitc::toglobal(0, &g_value), kValue);
    g_machine->wait_until("serve", 0, [] { return false; });
  } catch (const Error&) {
    if (!job.is_lost(Rank{0})) throw;
  }
}

void connect_splitc(const std::string& path, bool asks) {
  ::setenv("VIADUCT_SPLITC_PATH", path.c_str(), 1);
  Family family{"Split-C, path " + path + (asks ? ", asking" : ", being asked")};
  family.prepare = [asks] {
    set_up::fork_peer([asks](Job& job) { be_process(job, !asks); });
    auto* const job = new Job;
    begin_splitc(*job);
    job->bootstrap().fence();
  };
  if (asks)
    family.attempt = [] {
      read_from_peer();
      is_done();
    };
  else
    family.attempt = [] {
      serve_until([] { return g_value != 0; });
      is_done();
    };
  if (asks) family.again = read_from_peer;
  family.look = [] {
    return std::vector{"bytes of the shared window: " +
                       std::to_string(g_machine->job().segment().allocated_bytes())};
  };
  family.stays = [windows = 0](const std::string& text) mutable {
    const std::string bytes = std::to_string(g_machine->job().segment().window_bytes());
    return text.find("viaduct-window") != std::string::npos ||
           (text.find(" of " + bytes + " bytes") != std::string::npos && ++windows == 1);
  };
  family.once = true;
  family.may_stop = !asks;
  try_family(family);
  ::unsetenv("VIADUCT_SPLITC_PATH");
}

TEST(SetUpConnecting, SplitCMapsItsPeer) { connect_splitc("direct", true); }
TEST(SetUpConnecting, SplitCAsks) { connect_splitc("message", true); }
TEST(SetUpConnecting, SplitCIsAsked) { connect_splitc("message", false); }

}  // namespace
