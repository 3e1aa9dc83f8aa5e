/// @file
/// What survivors see when a rank's process is killed: the last rank kills itself, in a way that
/// the argument says. Under viaduct-run --keep-going, with 3 ranks or more. Each survivor prints
/// "survived".

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/conformance/link.hpp"
#include "tests/conformance/rig.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/nic.hpp"

namespace {

using namespace viaduct;
using namespace viaduct::conformance;
using via::CompletedOperation;
using via::Descriptor;
using via::ViState;

constexpr std::int64_t kBoundNs = 60'000'000'000;  // only a hang takes so long
constexpr std::size_t kReceives = 4;

constexpr std::uint32_t kCopied = 40'000;

enum class How : std::uint8_t { idle, sending, connecting, copies };

struct Survivor {
  Rig& rig;
  Rank victim;
  Link link;
  Buffer buffer;
  std::vector<Descriptor> receives;

  Survivor(Rig& r, Rank v) : rig(r), victim(v), link(r), buffer(r, 8000), receives(kReceives) {
    connect_peer(rig, link.vi(), victim, 1);
    for (Descriptor& d : receives) {
      via::make_receive(d, buffer.data(), 4000, buffer.handle());
      link.post_receive(d);
    }
  }

  // The victim sends and dies in the middle: what comes is whole messages, then the flush.
  void expect_loss(std::int64_t start) {
    bool flushed = false;
    for (Descriptor& d : receives) {
      link.expect_next_receive(d);
      flushed = flushed || d.failed();
      if (flushed) {
        expect_flushed(d, CompletedOperation::receive);
      } else {
        expect_done(d, CompletedOperation::receive, d.control.length);
      }
    }
    CHECK(flushed);
    rig.expect_error(via::ErrorCause::connection_lost, link.vi());
    CHECK(now_ns() - start < kBoundNs);
    CHECK_EQ(link.vi().state(), ViState::error);
    CHECK_EQ(index(link.vi().peer()), index(victim));
  }

  void expect_refused_afterwards() {
    Descriptor send{};
    via::make_send(send, buffer.data(), 8, buffer.handle());
    link.post_send(send);
    link.expect_next_send(send);
    expect_flushed(send, CompletedOperation::send);
    link.vi().disconnect();
    CHECK_EQ(link.vi().state(), ViState::idle);
    const std::int64_t start = now_ns();
    CHECK_EQ(link.vi().connect(victim, 77, kLimitNs), via::ConnectResult::unreachable);
    CHECK(now_ns() - start < kBoundNs);
    if (link.vi().connect_peer_start(victim, 78) == Status::ok) {
      CHECK_EQ(link.vi().connect_peer_wait(kLimitNs), via::ConnectResult::unreachable);
    }
  }
};

// Two survivors, who still talk to each other afterwards.
struct Pair {
  Buffer buffer;
  Descriptor send{}, receive{};
  Link link;

  Pair(Rig& rig, Rank partner) : buffer(rig, 100), link(rig) {
    connect_peer(rig, link.vi(), partner, 2);
    via::make_receive(receive, buffer.data(), 50, buffer.handle());
    link.post_receive(receive);
  }
  void talk() {
    via::make_send(send, buffer.data() + 50, 50, buffer.handle());
    link.post_send(send);
    expect_done(link.next_receive(), CompletedOperation::receive, 50);
    expect_done(link.next_send(), CompletedOperation::send, 50);
  }
};

/// Sends of private memory that the peer can neither read nor map are copied through this rank's
/// window. Those that the victim has not taken are given back when the connection has ended.
void survive_with_copies(Rig& rig, Rank victim) {
  constexpr std::size_t kSends = 8;
  const std::size_t before = rig.job().segment().allocated_bytes();
  {
    Link link(rig, vi_attributes(kSends));
    Buffer buffer(rig, kCopied, Memory::private_);
    connect_peer(rig, link.vi(), victim, 1);
    std::vector<Descriptor> sends(kSends);
    rig.sync("all are connected");
    for (Descriptor& d : sends) {
      via::make_send(d, buffer.data(), kCopied, buffer.handle());
      link.post_send(d);
    }
    CHECK(rig.job().segment().allocated_bytes() >= before + kSends * kCopied);
    rig.sync("all are sent");
    for (const Descriptor& d : sends) link.expect_next_send(d);
    rig.expect_error(via::ErrorCause::connection_lost, link.vi());
  }
  const std::int64_t start = now_ns();
  const auto in_use = [&] { return rig.job().segment().allocated_bytes(); };
  while (in_use() >= before + kCopied && now_ns() - start < 10'000'000'000) rig.nic().progress();
  CHECK(in_use() < before + kCopied);
}

/// Takes nothing of what comes.
[[noreturn]] void die_with_copies(Rig& rig) {
  std::vector<std::unique_ptr<Link>> links;
  Buffer buffer(rig, kCopied, Memory::private_);
  std::vector<Descriptor> receives(8 * rig.size());
  for (std::uint32_t r = 0, at = 0; r + 1 < rig.size(); ++r) {
    links.push_back(std::make_unique<Link>(rig));
    for (int i = 0; i < 8; ++i) {
      via::make_receive(receives[at], buffer.data(), kCopied, buffer.handle());
      links.back()->post_receive(receives[at++]);
    }
    connect_peer(rig, links.back()->vi(), Rank{r}, 1);
  }
  rig.sync("all are connected");
  rig.sync("all are sent");
  std::raise(SIGKILL);
  std::abort();
}

[[noreturn]] void die(How how, Rig& rig, std::vector<std::unique_ptr<Link>>& links) {
  Buffer buffer(rig, 4000);
  if (how == How::sending) {
    std::vector<Descriptor> sends(2 * links.size());
    for (std::size_t i = 0; i < sends.size(); ++i) {
      via::make_send(sends[i], buffer.data(), i < links.size() ? 20 : 4000, buffer.handle());
      static_cast<void>(links[i % links.size()]->vi().post_send(sends[i]));
    }
  }
  std::raise(SIGKILL);
  std::abort();
}

void survive(Rig& rig, How how) {
  const Rank victim{rig.size() - 1};
  const Case subject{"peer_lost", "", Party::all, nullptr};
  rig.begin(subject, 1);
  if (how == How::copies)
    return rig.me() == victim ? die_with_copies(rig) : survive_with_copies(rig, victim);
  if (rig.me() == victim) {
    std::vector<std::unique_ptr<Link>> links;
    for (std::uint32_t r = 0; r + 1 < rig.size(); ++r) {
      links.push_back(std::make_unique<Link>(rig));
      connect_peer(rig, links.back()->vi(), Rank{r}, 1);
    }
    rig.sync("all are connected");
    die(how, rig, links);
  }
  Survivor survivor(rig, victim);
  // Rank 0 with 1, 2 with 3, ...
  std::unique_ptr<Pair> pair;
  const std::uint32_t partner = rig.rank() ^ 1U;
  if (partner < index(victim)) pair = std::make_unique<Pair>(rig, Rank{partner});
  Link asking(rig);
  if (how == How::connecting) {
    // Nobody at the victim will answer this one.
    REQUIRE_EQ(asking.vi().connect_peer_start(victim, 3), Status::ok);
  }
  rig.sync("all are connected");
  const std::int64_t start = now_ns();
  survivor.expect_loss(start);
  if (how == How::connecting) {
    CHECK_EQ(asking.vi().connect_peer_wait(kLimitNs), via::ConnectResult::unreachable);
    CHECK_EQ(asking.vi().state(), ViState::idle);
  }
  survivor.expect_refused_afterwards();
  if (pair != nullptr) pair->talk();
}

int body(Job& job, int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "idle";
  if (job.size() < 3 || job.threads_mode()) {
    std::puts("needs 3 ranks or more, as processes");
    return 77;
  }
  const char* provider = std::getenv("VIADUCT_PROVIDER");
  const auto nic = via::open_nic(job, provider != nullptr ? provider : "shm");
  Verdict verdict;
  verdict.rank = index(job.rank());
  verdict.case_name = "peer_lost";
  set_current_verdict(&verdict);
  Rig rig(job, *nic, 1);
  try {
    survive(rig, how == "sending"      ? How::sending
                 : how == "connecting" ? How::connecting
                 : how == "copies"     ? How::copies
                                       : How::idle);
  } catch (const CaseFailed&) {
  } catch (const CaseAborted& abort) {
    check(false, abort.reason, Where::here());
  }
  if (verdict.failures != 0) return 1;
  std::fputs("survived\n", stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
