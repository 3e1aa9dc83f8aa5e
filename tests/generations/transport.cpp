// The transport of MAPs by itself (docs/generations.md): order, sizes, credits that run out in both
// directions, transfers, and a close while messages are under way. Two ranks each are a pair.
//
// usage: generation_transport PROVIDER v1|v1-strict|v2|v3 [full]
// full: one rank of each pair has no memory left for a VI, and the pair learns so.

#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sched.h>

#include <fmt/format.h>

#include "via/generations/generations.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/segment.hpp"
#include "viaduct/via/slot.hpp"

namespace {

using namespace viaduct;
using via::Link;
using via::generations::Generation;

constexpr std::uint32_t kMost = 64;  // messages that the peer has not taken
constexpr std::uint32_t kLines = 64;
constexpr std::uint32_t kAreaBytes = 20 * 1024;  // for the data of each of them
constexpr std::uint32_t kAreas = kLines * Link::kLineBytes;
constexpr std::uint32_t kCount = kAreas + kLines * kAreaBytes;  // a counter, written back
constexpr std::size_t kHalfBytes = kCount + 64;
constexpr std::uint64_t kLimitNs = 60'000'000'000;

constinit thread_local int failures = 0;  // a rank may be a thread

void expect(bool good, const std::string& what) {
  if (good) return;
  if (++failures < 20) fmt::print(stderr, "{}\n", what);
}

std::byte byte_of(std::uint32_t message, std::uint32_t i) {
  return static_cast<std::byte>(message * 7 + i + (i >> 8));
}

/// The bytes of data that message @p n has: none, or a size of each class, and beyond all.
std::uint32_t data_bytes(std::uint32_t n) {
  constexpr std::array<std::uint32_t, 12> kSizes{0,    1,    63,   500,   512,   513,
                                                 4096, 4288, 4289, 16000, 16384, kAreaBytes};
  return kSizes[(n * 5) % kSizes.size()];
}

class Pair {
 public:
  Pair(Job& job, via::Transport& transport)
      : job_(job),
        transport_(transport),
        peer_(Rank{index(job.rank()) ^ 1U}),
        at_(job.segment().allocate(2 * kHalfBytes)),
        block_(job.segment().base() + at_) {
    std::memset(block_, 0, 2 * kHalfBytes);
    open();
  }
  ~Pair() {
    link_.reset();
    job_.segment().release(at_);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  [[nodiscard]] Link& link() { return *link_; }
  [[nodiscard]] Rank peer() const { return peer_; }
  void close() { link_.reset(); }
  [[nodiscard]] bool lost() const { return lost_; }
  [[nodiscard]] std::uint32_t taken() const { return taken_; }
  [[nodiscard]] std::uint32_t sent() const { return sent_; }

  void fence() { job_.bootstrap().fence(); }
  void poll() {
    transport_.progress([](Rank, std::span<const std::byte>) {});
    via::LinkEvents events;
    const std::size_t n = transport_.poll(events);
    for (std::size_t i = 0; i < n; ++i) {
      if (events[i].failure != via::ErrorCause::none)
        lost_ = true;
      else
        take(events[i].notification);
    }
    if (n == 0) sched_yield();
  }
  void until(const std::function<bool()>& done, const std::string& what) {
    const std::uint64_t start = monotonic_ns();
    while (!done()) {
      poll();
      if (monotonic_ns() - start < kLimitNs) continue;
      expect(false, what + ": waited in vain");
      return;
    }
  }

  /// Posts the next message, where the link and the peer have room.
  bool try_send() {
    if (sent_ - known() >= kMost) return false;
    const std::uint32_t place = sent_ % kLines;
    const std::uint32_t bytes = data_bytes(sent_);
    std::byte* const area = block_ + kAreas + place * kAreaBytes;
    for (std::uint32_t i = 0; i < bytes; ++i) area[i] = byte_of(sent_, i);
    std::memset(block_ + place * Link::kLineBytes, static_cast<int>(sent_ % 251), Link::kLineBytes);
    const std::array<Link::Piece, 2> pieces{
        Link::Piece{kAreas + place * kAreaBytes, bytes},
        Link::Piece{place * Link::kLineBytes, Link::kLineBytes}};
    const bool gone =
        bytes == 0 ? link_->post_line(pieces[1].offset, sent_) : link_->post(pieces, sent_, true);
    if (gone) ++sent_;
    return gone;
  }
  /// Tells the peer how many of its messages have been taken.
  void tell_count() {
    if (told_ == taken_) return;
    const std::uint64_t word = via::checked_counter::word_of(taken_);
    std::memcpy(block_ + kHalfBytes + kCount, &word, sizeof word);
    if (link_->post_back({kCount, sizeof word}, 0, false)) told_ = taken_;
  }
  /// Whether each rank has told the other that all of its messages have been taken.
  bool all_told() { return told_ == taken_ && known() == sent_; }

 private:
  void open() {
    link_ = transport_.make_link(block_, kHalfBytes, kMost + 4, this);
    job_.bootstrap().put_value("generation_transport", link_->name());
    job_.bootstrap().fence();
    link_->connect(peer_, *job_.bootstrap().get_value<Link::Name>(peer_, "generation_transport"));
    job_.bootstrap().fence();
  }
  [[nodiscard]] std::uint32_t known() {
    std::uint64_t word = 0;
    std::memcpy(&word, block_ + kCount, sizeof word);
    known_ = via::checked_counter::take(word, known_);
    return static_cast<std::uint32_t>(known_);
  }
  void take(std::uint32_t number) {
    expect(number == taken_, fmt::format("message {} comes as number {}", number, taken_));
    const std::byte* const half = block_ + kHalfBytes;
    const std::uint32_t place = taken_ % kLines;
    const std::uint32_t bytes = data_bytes(taken_);
    const std::byte* const area = half + kAreas + place * kAreaBytes;
    for (std::uint32_t i = 0; i < bytes; ++i)
      if (area[i] != byte_of(taken_, i)) {
        expect(false, fmt::format("message {} of {} bytes: byte {} is wrong", taken_, bytes, i));
        break;
      }
    for (std::uint32_t i = 0; i < Link::kLineBytes; ++i)
      expect(half[place * Link::kLineBytes + i] == static_cast<std::byte>(taken_ % 251),
             fmt::format("message {}: its line is wrong", taken_));
    ++taken_;
  }

  Job& job_;
  via::Transport& transport_;
  Rank peer_;
  std::size_t at_;
  std::byte* block_;
  std::unique_ptr<Link> link_;
  std::uint32_t sent_ = 0, taken_ = 0, told_ = 0;
  std::uint64_t known_ = 0;
  bool lost_ = false;
};

/// Both send at once, each as fast as it can; all sizes, in order.
void stream(Pair& pair) {
  constexpr std::uint32_t kMessages = 1500;
  pair.until([&] { return pair.link().ready(); }, "the link");
  pair.until(
      [&] {
        while (pair.sent() < kMessages && pair.try_send()) {
        }
        pair.tell_count();
        return pair.sent() == kMessages && pair.taken() == kMessages;
      },
      "a stream both ways");
  pair.until([&] { return pair.link().drained(); }, "the end of a stream");
}

/// Returns at both when nothing is on its way.
void settle(Pair& pair) {
  pair.until(
      [&] {
        pair.tell_count();
        return pair.link().drained() && pair.all_told();
      },
      "a quiet link");
  pair.fence();
}

/// A rank posts all that its peer allows, while neither polls; then both do.
void exhausted(Pair& pair) {
  settle(pair);
  const std::uint32_t before = pair.taken();
  const std::uint32_t from = pair.sent();
  // The peer may not yet have returned the room of what it has taken.
  pair.until([&] { return pair.try_send(); }, "room for a message");
  // A provider that is full now and then refuses a post although there is room.
  constexpr int kRefusals = 10;
  for (int refused = 0; refused < kRefusals;)
    if (!pair.try_send()) ++refused;
  pair.fence();
  pair.until(
      [&] {
        pair.tell_count();
        while (pair.sent() - from < kMost && pair.try_send()) {
        }
        return pair.sent() - from == kMost && pair.taken() - before == kMost;
      },
      "messages beyond the room");
  pair.until([&] { return pair.link().drained(); }, "messages beyond the room to leave");
}

/// put, get, write and read between registered memory and memory that is not.
void transfers(Job& job, Pair& pair, via::Transport& transport) {
  constexpr std::size_t kBytes = 300'000;
  std::vector<std::byte> shared(kBytes), own(kBytes), other(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) {
    own[i] = byte_of(index(job.rank()), static_cast<std::uint32_t>(i));
    other[i] = byte_of(index(pair.peer()), static_cast<std::uint32_t>(i));
  }
  struct Place {
    std::uint64_t address;
    std::uint32_t key;
  };
  const std::uint32_t key = transport.register_memory(shared.data(), kBytes);
  job.bootstrap().put_value("place", Place{reinterpret_cast<std::uint64_t>(shared.data()), key});
  pair.fence();
  const Place there = *job.bootstrap().get_value<Place>(pair.peer(), "place");
  Link& link = pair.link();
  expect(link.write(own.data(), kBytes, there.address, there.key), "write()");
  // Without RDMA this rank takes what the peer has written.
  pair.until([&] { return shared == other; }, "what the peer has written");
  pair.fence();
  expect(link.read(other.data(), kBytes, there.address, there.key), "read()");
  expect(other == own, "read() answers other bytes than write() has written");
  Link::Transfer last = 0;
  const auto finish = [&] { pair.until([&] { return link.is_done(last); }, "a transfer"); };
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{5000}, Link::kMostTransferBytes}) {
    std::vector<std::byte> data(bytes, static_cast<std::byte>(bytes));
    const auto put = [&] {
      last = link.put(data.data(), bytes, there.address, there.key, Link::Source::changes);
      return last != 0;
    };
    pair.until(put, "put()");
    std::fill(data.begin(), data.end(), std::byte{0});
    finish();
    const auto get = [&] {
      last = link.get(data.data(), bytes, there.address, there.key);
      return last != 0;
    };
    pair.until(get, "get()");
    finish();
    expect(data == std::vector<std::byte>(bytes, static_cast<std::byte>(bytes)), "put, then get");
  }
  pair.until([&] { return link.drained(); }, "transfers to leave");
  pair.fence();
  transport.deregister(key);
}

/// The lower rank of a pair sends and closes, while the other does not poll: all arrives.
void close_under_way(Pair& pair, bool closes) {
  settle(pair);
  const std::uint32_t before = pair.taken();
  const std::uint32_t wanted = kMost / 2;
  if (closes) {
    const std::uint32_t from = pair.sent();
    const std::uint64_t start = monotonic_ns();
    while (pair.sent() - from < wanted && monotonic_ns() - start < kLimitNs) {
      if (!pair.try_send()) sched_yield();
    }
    expect(pair.sent() - from == wanted, "messages wait for a peer that does not poll");
    while (!pair.link().drained() && monotonic_ns() - start < kLimitNs) sched_yield();
    pair.close();
  }
  pair.fence();
  if (!closes) {
    pair.until([&] { return pair.taken() - before == wanted; }, "what was sent before a close");
    pair.until([&] { return pair.lost(); }, "the end of the link");
    expect(pair.link().failed(), "a link whose peer has closed has not failed");
  }
  pair.fence();
}

/// The lower rank of a pair has no memory for the VI of control messages. In every other pair it
/// sends; in the others the peer sends.
void full(Job& job, const std::string& provider, Generation generation) {
  const std::unique_ptr<via::Transport> transport =
      via::generations::open_transport(job, provider, generation);
  const std::uint32_t me = index(job.rank());
  const Rank peer{me ^ 1U};
  const bool sends = me / 2 % 2 == me % 2;
  const auto progress = [&] { transport->progress([](Rank, std::span<const std::byte>) {}); };
  if (me % 2 == 0)
    for (std::size_t bytes = 1 << 20; bytes >= 64; bytes /= 2) try {
        for (;;) (void)job.segment().allocate(bytes);
      } catch (const Error&) {  // what is left is smaller
      }
  const std::array<std::byte, 8> message{};
  if (sends) transport->send_control(peer, message);
  job.bootstrap().fence();
  for (int i = 0; i < 100; ++i) progress();
  job.bootstrap().fence();
  if (sends) {
    const std::uint64_t start = monotonic_ns();
    while (transport->out_of_reach(0) != std::vector{peer} && monotonic_ns() - start < kLimitNs)
      progress();
    expect(transport->out_of_reach(0) == std::vector{peer}, "a peer out of reach");
    transport->forget(peer);
  }
  expect(transport->all_delivered(), "nothing is under way");
  job.bootstrap().fence();
}

Generation generation_of(const std::string& name) {
  return name == "v1-strict" ? Generation::v1_strict : static_cast<Generation>(name[1] - '1');
}

void run(Job& job, const std::string& provider, Generation generation) {
  const std::unique_ptr<via::Transport> transport =
      via::generations::open_transport(job, provider, generation);
  expect(!transport->rings_doorbell(), "it rings no doorbell");
  expect(transport->bytes_per_link(kMost) > 16384, "the bytes of a link");
  {
    Pair pair(job, *transport);
    stream(pair);
    exhausted(pair);
    transfers(job, pair, *transport);
    close_under_way(pair, index(job.rank()) % 2 == 0);
  }
  Pair again(job, *transport);
  stream(again);
  again.fence();
}

}  // namespace

int main(int argc, char** argv) {
  return run(
      [](Job& job, int count, char** arguments) {
        const bool is_full = count == 4 && std::string_view(arguments[3]) == "full";
        if ((count != 3 && !is_full) || job.size() % 2 != 0) {
          std::fputs(
              "usage: generation_transport PROVIDER v1|v1-strict|v2|v3 [full], in an even number "
              "of ranks\n",
              stderr);
          return 2;
        }
        failures = 0;
        const Generation generation = generation_of(arguments[2]);
        if (is_full)
          full(job, arguments[1], generation);
        else
          run(job, arguments[1], generation);
        return failures == 0 ? 0 : 1;
      },
      argc, argv);
}
