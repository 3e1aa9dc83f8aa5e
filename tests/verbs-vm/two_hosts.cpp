/// @file
/// A job on two hosts, at least two ranks on each: ranks of one host talk over shm, of two over
/// verbs.
///
///     two_hosts exchange            messages of all sizes between all, with checksums; the
///     counters of
///                                   the device show which of them took the wire
///     two_hosts kill RANK           that rank is killed; the others learn of it, and go on talking
///     two_hosts vanish FILE COMMAND rank 0 runs COMMAND, which parts the hosts; each rank writes
///     into
///                                   FILE.RANK whom it has lost

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/stats.hpp"
#include "viaduct/runtime/status.hpp"

namespace {

using namespace viaduct;

constexpr std::uint32_t kShorts = 600;
constexpr std::uint32_t kMediums = 20;
constexpr std::uint32_t kBulks = 2;
constexpr std::size_t kBulkWords = (std::size_t{256} << 10) / 8 + 5;  // not a multiple of any piece
constexpr std::uint64_t kPatienceNs = 300'000'000'000;                // emulated machines are slow
constexpr std::uint64_t kLossNs = 20'000'000'000;  // as in link_down, where the wire must tell

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5d329728ea185ULL;
  return (x ^ (x >> 27)) * 0x81dadef4bc2dd44dULL;
}
void fill(std::span<std::uint64_t> words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = mix(seed + i);
}
std::uint64_t checksum(std::span<const std::uint64_t> words) {
  std::uint64_t sum = words.size();
  for (const std::uint64_t word : words) sum = sum * 31 + word;
  return sum;
}

/// What this rank has had from each other.
struct Stream {
  std::uint64_t next = 0;  // number of the next request
  std::uint64_t replies = 0;
  std::uint64_t got = 0;
  bool ended = false;      // has said that it talks no more
  std::uint64_t back = 0;  // requests that were returned
};
std::vector<Stream> g_streams;
bool g_wrong = false;

std::uint32_t g_me = 0;
int g_complaints = 0;

void expect(bool passed, const std::string& what) {
  if (passed) return;
  g_wrong = true;
  constexpr int kMost = 10;
  if (++g_complaints <= kMost)
    std::fprintf(stderr, "two_hosts: rank %u: not so: %s\n", g_me, what.c_str());
}

void expect_ok(Status status, const char* what) {
  expect(status == Status::ok, std::string(what) + ": " + to_string(status));
}

/// As expect, with the two numbers and the other rank.
void expect_number(std::uint64_t number, std::uint64_t wanted, am::Token& token, const char* what) {
  if (number == wanted) return;
  expect(false, std::string(what) + ": from rank " + std::to_string(index(token.source_rank())) +
                    " came " + std::to_string(number) + ", not " + std::to_string(wanted));
}

Stream& stream_of(am::Token& token) { return g_streams[index(token.source_rank())]; }
void take(am::Token& token, std::uint64_t number) {
  Stream& stream = stream_of(token);
  expect_number(number, stream.next, token, "requests arrive once, and in order");
  stream.next = number + 1;
}

void on_reply(am::Token& token, std::uint64_t number) {
  Stream& stream = stream_of(token);
  expect_number(number, stream.replies, token, "replies arrive once, and in order");
  ++stream.replies;
}
void on_short(am::Token& token, std::uint64_t number) {
  take(token, number);
  token.reply<on_reply>(number);
}
void on_medium(am::Token& token, std::span<const std::uint64_t> data, std::uint64_t number,
               std::uint64_t sum) {
  take(token, number);
  expect(checksum(data) == sum, "a medium message's checksum is its sender's");
  token.reply<on_reply>(number);
}
void on_bulk(am::Token& token, std::span<std::uint64_t> data, std::uint64_t number,
             std::uint64_t sum) {
  take(token, number);
  expect(data.size() == kBulkWords && checksum(data) == sum,
         "a bulk message's checksum is its sender's");
  token.reply<on_reply>(number);
}
void on_got(am::Token& token, std::span<std::uint64_t> data, std::uint64_t sum) {
  expect(checksum(data) == sum, "what is fetched is what was sent there");
  ++stream_of(token).got;
}

void on_end(am::Token& token) { stream_of(token).ended = true; }

/// Packets that the devices of this host have sent; on software devices, those of all hosts.
std::uint64_t packets_sent() {
  std::uint64_t sum = 0;
  std::uint64_t value = 0;
  if (std::getenv("SOFT_VERBS_CONTROL") != nullptr) {
    std::FILE* const count = popen("soft-verbs-control count packets", "r");
    const bool found = count != nullptr && std::fscanf(count, "%lu", &value) == 1;
    expect(found && pclose(count) == 0, "soft-verbs-control counts packets");
    return value;
  }
  for (const auto& device : std::filesystem::directory_iterator("/sys/class/infiniband")) {
    if (std::ifstream(device.path() / "ports/1/hw_counters/sent_pkts") >> value) sum += value;
  }
  return sum;
}

class Rank {
 public:
  explicit Rank(Job& job) : job_(job), context_(job), bundle_(context_), endpoint_(bundle_) {
    g_streams.assign(job.size(), {});
    g_me = index(job.rank());
    sent_.assign(job.size(), 0);
    endpoint_.map_all();
    area_ = kBulkWords * sizeof(std::uint64_t);
    (void)endpoint_.make_segment(area_ * job.size());
    endpoint_.set_undeliverable_handler([](const am::Returned& returned) {
      ++g_streams[am::value(returned.peer)].back;
      expect(returned.status == am::Undeliverable::unreachable, "returned as unreachable");
    });
    barrier("all are there");
  }

  [[nodiscard]] std::uint32_t me() const { return index(job_.rank()); }
  [[nodiscard]] Job& job() { return job_; }
  [[nodiscard]] am::Bundle& bundle() { return bundle_; }

  void barrier(const char* what) { expect(bundle_.barrier() == Status::ok, what); }

  [[nodiscard]] std::vector<std::uint32_t> others(bool here) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < job_.size(); ++i)
      if (i != me() && job_.same_host(viaduct::Rank{i}) == here) found.push_back(i);
    return found;
  }

  /// All that there is, to each of @p to at once, and until all is answered.
  void talk(const std::vector<std::uint32_t>& to) {
    std::vector<std::uint64_t> medium(endpoint_.max_medium() / 8);
    std::vector<std::uint64_t> bulk(kBulkWords);
    const std::uint32_t every = kShorts / kMediums;
    for (std::uint32_t i = 0; i < kShorts; ++i)
      for (const std::uint32_t peer : to) {
        expect_ok(request_short(peer), "requests are accepted");
        if (i % every == 0) request_medium(peer, medium);
      }
    for (std::uint32_t i = 0; i < kBulks; ++i)
      for (const std::uint32_t peer : to) request_bulk(peer, bulk);
    settle(to);
    for (const std::uint32_t peer : to) fetch(peer, bulk);
  }

  Status request_short(std::uint32_t peer) {
    const Status status = endpoint_.request<on_short>(am::Index{peer}, sent_[peer]);
    if (status == Status::ok) ++sent_[peer];
    return status;
  }

  void settle(const std::vector<std::uint32_t>& peers) {
    const auto done = [&] {
      return std::all_of(peers.begin(), peers.end(), [&](std::uint32_t peer) {
        return g_streams[peer].replies + g_streams[peer].back >= sent_[peer];
      });
    };
    expect_ok(bundle_.wait_until(done, kPatienceNs), "all is answered or comes back");
  }

  /// Until each of @p peers has come here, too: a barrier of those that are left.
  void end_with(const std::vector<std::uint32_t>& peers) {
    for (const std::uint32_t peer : peers)
      expect_ok(endpoint_.request<on_end>(am::Index{peer}), "the end is accepted");
    const auto done = [&] {
      return std::all_of(peers.begin(), peers.end(),
                         [](std::uint32_t peer) { return g_streams[peer].ended; });
    };
    expect_ok(bundle_.wait_until(done, kPatienceNs), "all come to the end");
  }

  /// Sends to @p peer until it is known as lost. Answers the milliseconds that took.
  std::uint64_t lose(std::uint32_t peer) {
    const std::uint64_t start = monotonic_ns();
    Status status = Status::ok;
    while (status == Status::ok && monotonic_ns() - start < kLossNs) {
      status = request_short(peer);
      (void)bundle_.wait(1'000'000);
    }
    expect(status == Status::peer_lost, "rank " + std::to_string(peer) + " is lost in time");
    settle({peer});
    return (monotonic_ns() - start) / 1'000'000;
  }

 private:
  void request_medium(std::uint32_t peer, std::span<std::uint64_t> data) {
    fill(data, mix(sent_[peer]) + me());
    const auto words = std::span<const std::uint64_t>(data);
    expect_ok(
        endpoint_.request_medium<on_medium>(am::Index{peer}, words, sent_[peer], checksum(data)),
        "medium requests are accepted");
    ++sent_[peer];
  }
  void request_bulk(std::uint32_t peer, std::span<std::uint64_t> data) {
    settle({peer});  // the area is ours alone, and one message's at a time
    fill(data, mix(sent_[peer]) + me());
    expect_ok(endpoint_.request_bulk<on_bulk>(am::Index{peer}, data, area_ * me(), sent_[peer],
                                              checksum(data)),
              "bulk requests are accepted");
    ++sent_[peer];
  }
  /// The last bulk message comes back from where it went.
  void fetch(std::uint32_t peer, std::span<std::uint64_t> data) {
    fill(data, mix(sent_[peer] - 1) + me());
    const std::uint64_t sum = checksum(data);
    std::fill(data.begin(), data.end(), 0);
    const std::uint64_t before = g_streams[peer].got;
    const std::uint64_t back = g_streams[peer].back;
    const Status status = endpoint_.get<on_got>(am::Index{peer}, data, area_ * me(), sum);
    expect_ok(status, "gets are accepted");
    if (status != Status::ok) return;
    const auto done = [&] { return g_streams[peer].got + g_streams[peer].back > before + back; };
    expect_ok(bundle_.wait_until(done, kPatienceNs), "what is fetched comes");
    expect(g_streams[peer].back == back, "what is fetched does not come back as unreachable");
  }

  Job& job_;
  am::Context context_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  std::vector<std::uint64_t> sent_;
  std::size_t area_ = 0;
};

/// A phase in which only some talk: the packets that this host sent meanwhile.
std::uint64_t packets_while_talking(Rank& rank, const std::vector<std::uint32_t>& to) {
  rank.barrier("before a phase");
  const std::uint64_t before = packets_sent();
  rank.barrier("all have counted");
  rank.talk(to);
  rank.barrier("after a phase");
  return packets_sent() - before;
}

void exchange(Rank& rank) {
  const std::vector<std::uint32_t> here = rank.others(true);
  const std::vector<std::uint32_t> away = rank.others(false);
  const std::uint64_t within = packets_while_talking(rank, here);
  const std::uint64_t across = packets_while_talking(rank, away);
  // Credits of the phase before, and what the devices repeat.
  constexpr std::uint64_t kFew = kShorts / 10;
  expect(within < kFew,
         "ranks of one host do not use the wire: " + std::to_string(within) + " packets");
  constexpr std::uint64_t kMtu = 4096;
  const std::uint64_t bulk_packets = kBulks * kBulkWords * 8 / kMtu;
  expect(across > away.size() * bulk_packets,
         "ranks of two hosts use it: " + std::to_string(across) + " packets");
  std::vector<std::uint32_t> all(here);
  all.insert(all.end(), away.begin(), away.end());
  std::sort(all.begin(), all.end());
  rank.talk(all);
  rank.barrier("all have talked");
  for (const Stats::Row& row : rank.job().stats().rows()) {
    if (row.layer == "transport" && row.name == "receiver_not_ready")
      expect(row.value == 0, "no message meets an empty receive queue");
  }
  std::printf("rank %u: host %u sent %lu packets to itself, %lu to the other\n", rank.me(),
              rank.job().host_of(rank.job().rank()), static_cast<unsigned long>(within),
              static_cast<unsigned long>(across));
}

void be_without(Rank& rank, std::uint32_t victim) {
  std::vector<std::uint32_t> all(rank.others(true));
  for (const std::uint32_t peer : rank.others(false)) all.push_back(peer);
  rank.talk(all);
  rank.barrier("all have talked");
  if (rank.me() == victim) {
    std::fflush(stdout);
    std::raise(SIGKILL);
  }
  const std::uint64_t ms = rank.lose(victim);
  const std::uint64_t since = monotonic_ns();
  while (!rank.job().is_lost(viaduct::Rank{victim}) && monotonic_ns() - since < kLossNs)
    (void)rank.bundle().wait(1'000'000);
  expect(rank.job().is_lost(viaduct::Rank{victim}), "the job knows who is lost");
  all.erase(std::remove(all.begin(), all.end(), victim), all.end());
  rank.talk(all);
  expect(rank.bundle().barrier() == Status::peer_lost, "barriers fail");
  rank.end_with(all);
  std::printf("rank %u: lost rank %u after %lu ms\n", rank.me(), victim,
              static_cast<unsigned long>(ms));
}

void part(Rank& rank, const std::string& file, const char* command) {
  const std::vector<std::uint32_t> here = rank.others(true);
  const std::vector<std::uint32_t> away = rank.others(false);
  std::vector<std::uint32_t> all(here);
  all.insert(all.end(), away.begin(), away.end());
  rank.talk(all);
  rank.barrier("all have talked");
  // Nothing else comes back from beyond the wire.
  if (std::freopen((file + ".err." + std::to_string(rank.me())).c_str(), "w", stderr) == nullptr)
    g_wrong = true;
  // Who only waits for what was under way learns of it with the job (TCP's keep-alive); who sends
  // then learns of it by its wire.
  const std::string parted = file + ".parted";
  if (rank.me() == 0) {
    expect(std::system(command) == 0, "the command works");
    std::ofstream mark(parted);
  }
  while (!std::filesystem::exists(parted)) (void)rank.bundle().wait(10'000'000);
  std::ofstream lines(file + "." + std::to_string(rank.me()));
  // Both hosts know only when nothing comes any more.
  for (const std::uint32_t peer : away) {
    lines << "asks for rank " << peer << std::endl;
    lines << "lost " << peer << " after " << rank.lose(peer) << " ms" << std::endl;
  }
  rank.talk(here);
  rank.end_with(here);
  lines << (g_wrong ? "something went wrong" : "talks to the others") << std::endl;
}

int body(Job& job, int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (job.hosts() != 2 || job.size() < 4) {
    std::fprintf(stderr, "two_hosts: %u ranks on %u hosts: at least 4 on 2 are wanted\n",
                 job.size(), job.hosts());
    return 2;
  }
  Rank rank(job);
  if (what == "exchange") {
    exchange(rank);
  } else if (what == "kill" && argc == 3) {
    be_without(rank, static_cast<std::uint32_t>(std::atoi(argv[2])));
  } else if (what == "vanish" && argc == 4) {
    part(rank, argv[2], argv[3]);
  } else {
    return 2;
  }
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
