// Every rank talks to every other at once: short, medium and bulk requests, mixed, in order, with
// verified contents.
//
//     viaduct-run -n 64 all_pairs [SHORTS MEDIUMS BULKS BULK_BYTES]
//
// Each rank goes round its peers, starting with the one behind it. To each it sends a stream of
// numbered messages; the receiver checks that the numbers come in order without a gap, across
// sizes, and that the data are what the number says, twice: by the sender's checksum, and word for
// word. Bulk data go into one of a few areas of the receiver's segment, after the receiver has
// granted it; the area is granted to the next one when its data have been verified.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <span>
#include <vector>

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"

namespace am = viaduct::am;
using viaduct::Status;

namespace {

constexpr std::size_t kMediumWords = 512;  // 4 KiB
constexpr std::uint32_t kAreas = 4;
constexpr std::uint64_t kProgressNs = 3'000'000'000;

struct Plan {
  std::uint32_t shorts = 1000;
  std::uint32_t mediums = 10;
  std::uint32_t bulks = 2;
  std::uint32_t bulk_words = (1 << 20) / 8;
  [[nodiscard]] std::uint32_t messages() const { return shorts + mediums + bulks; }
};

struct Received {
  std::uint32_t shorts = 0;
  std::uint32_t mediums = 0;
  std::uint32_t bulks = 0;
  std::uint64_t sum = 0;  // of what the shorts carried
  [[nodiscard]] std::uint32_t messages() const { return shorts + mediums + bulks; }
};

struct Rank {
  Plan plan;
  std::uint32_t me = 0;
  std::vector<Received> from;
  std::uint64_t complete = 0;  // peers from whom everything has come
  std::uint64_t wrong = 0;
  std::deque<std::uint32_t> wanting;  // peers that want an area
  std::vector<std::uint32_t> free_areas;
  std::uint32_t granted_area = kAreas;  // by the peer that we send to; kAreas: not yet
};
thread_local Rank* rank = nullptr;

void complain(std::uint32_t from, std::uint32_t number, const char* what) {
  if (++rank->wrong <= 3)
    std::fprintf(stderr, "all_pairs: rank %u: message %u from rank %u: %s\n", rank->me, number,
                 from, what);
}

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x7fb5d329728ea185ULL;
  x ^= x >> 27;
  return x * 0x81dadef4bc2dd44dULL;
}

/// What message @p number from @p from to @p to is about; its data are the multiples of this.
std::uint64_t seed_of(std::uint32_t from, std::uint32_t to, std::uint32_t number) {
  return mix((std::uint64_t{from} << 40) ^ (std::uint64_t{to} << 20) ^ number) | 1;
}

void fill(std::span<std::uint64_t> words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = seed * (i + 1);
}

/// Depends on every word and on its place.
std::uint64_t checksum(std::span<const std::uint64_t> words) {
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  for (std::size_t i = 0; i + 4 <= words.size(); i += 4)
    for (std::size_t l = 0; l < 4; ++l) lanes[l] = lanes[l] * 31 + words[i + l];
  for (std::size_t i = words.size() / 4 * 4; i < words.size(); ++i)
    lanes[0] = lanes[0] * 31 + words[i];
  return mix(lanes[0]) ^ mix(lanes[1] + 1) ^ mix(lanes[2] + 2) ^ mix(lanes[3] + 3);
}

bool matches(std::span<const std::uint64_t> words, std::uint64_t seed) {
  std::uint64_t differences = 0;
  for (std::size_t i = 0; i < words.size(); ++i) differences |= words[i] ^ (seed * (i + 1));
  return differences == 0;
}

/// A message has come: the next one of its stream, or something is wrong.
Received& take(std::uint32_t from, std::uint32_t number) {
  Received& stream = rank->from[from];
  if (number != stream.messages()) complain(from, number, "out of order, lost or doubled");
  return stream;
}

void look_whether_complete(const Received& stream) {
  if (stream.messages() == rank->plan.messages()) ++rank->complete;
}

void on_short(am::Token& token, std::uint32_t number, std::uint64_t seed) {
  const std::uint32_t from = index(token.source_rank());
  Received& stream = take(from, number);
  if (seed != seed_of(from, rank->me, number))
    complain(from, number, "wrong contents of a short message");
  ++stream.shorts;
  stream.sum += seed;
  look_whether_complete(stream);
}

void check(std::uint32_t from, std::uint32_t number, std::span<const std::uint64_t> data,
           std::size_t words, std::uint64_t sum) {
  if (data.size() != words) return complain(from, number, "wrong length");
  if (checksum(data) != sum) return complain(from, number, "its checksum is not the sender's");
  if (!matches(data, seed_of(from, rank->me, number)))
    complain(from, number, "data of another message");
}

void on_medium(am::Token& token, std::span<const std::uint64_t> data, std::uint32_t number,
               std::uint64_t sum) {
  const std::uint32_t from = index(token.source_rank());
  Received& stream = take(from, number);
  check(from, number, data, kMediumWords, sum);
  ++stream.mediums;
  look_whether_complete(stream);
}

void on_bulk(am::Token& token, std::span<std::uint64_t> data, std::uint32_t area,
             std::uint32_t number, std::uint64_t sum) {
  const std::uint32_t from = index(token.source_rank());
  Received& stream = take(from, number);
  check(from, number, data, rank->plan.bulk_words, sum);
  ++stream.bulks;
  rank->free_areas.push_back(area);
  look_whether_complete(stream);
}

void on_want_area(am::Token& token) { rank->wanting.push_back(index(token.source_rank())); }
void on_area_granted(am::Token&, std::uint32_t area) { rank->granted_area = area; }

bool grant_areas(am::Endpoint& endpoint) {
  while (!rank->wanting.empty() && !rank->free_areas.empty()) {
    const std::uint32_t to = rank->wanting.front();
    const std::uint32_t area = rank->free_areas.back();
    rank->wanting.pop_front();
    rank->free_areas.pop_back();
    if (endpoint.request<on_area_granted>(am::Index{to}, area) != Status::ok) return false;
  }
  return true;
}

bool send_bulk(am::Bundle& bundle, am::Endpoint& endpoint, std::uint32_t to, std::uint32_t number,
               std::vector<std::uint64_t>& words) {
  rank->granted_area = kAreas;
  if (endpoint.request<on_want_area>(am::Index{to}) != Status::ok) return false;
  while (rank->granted_area == kAreas) {
    if (!grant_areas(endpoint)) return false;
    if (rank->granted_area == kAreas) (void)bundle.wait();
  }
  fill(words, seed_of(rank->me, to, number));
  return endpoint.request_bulk<on_bulk>(am::Index{to}, std::span(words),
                                        rank->granted_area * words.size() * 8, rank->granted_area,
                                        number, checksum(words)) == Status::ok;
}

/// The stream to one peer: the bulk and medium messages evenly among the short ones.
bool serve_peer(am::Bundle& bundle, am::Endpoint& endpoint, std::uint32_t to,
                std::vector<std::uint64_t>& words) {
  const Plan& plan = rank->plan;
  std::array<std::uint64_t, kMediumWords> payload{};
  std::uint32_t mediums = 0;
  std::uint32_t bulks = 0;
  for (std::uint32_t number = 0; number < plan.messages(); ++number) {
    const std::uint64_t seed = seed_of(rank->me, to, number);
    const std::uint64_t due = std::uint64_t{number} + 1;
    Status status = Status::ok;
    if (due * plan.bulks / plan.messages() > bulks) {
      ++bulks;
      if (!send_bulk(bundle, endpoint, to, number, words)) return false;
    } else if ((due * plan.mediums + plan.messages() / 2) / plan.messages() > mediums) {
      ++mediums;
      fill(payload, seed);
      status = endpoint.request_medium<on_medium>(
          am::Index{to}, std::span<const std::uint64_t>(payload), number, checksum(payload));
    } else {
      status = endpoint.request<on_short>(am::Index{to}, number, seed);
    }
    if (status != Status::ok || !grant_areas(endpoint)) return false;
  }
  return true;
}

bool counts_are_right(std::uint32_t size) {
  const Plan& plan = rank->plan;
  for (std::uint32_t from = 0; from < size; ++from) {
    if (from == rank->me) continue;
    const Received& got = rank->from[from];
    if (got.shorts != plan.shorts || got.mediums != plan.mediums || got.bulks != plan.bulks) {
      std::fprintf(stderr,
                   "all_pairs: rank %u has %u short, %u medium and %u bulk messages of rank %u\n",
                   rank->me, got.shorts, got.mediums, got.bulks, from);
      return false;
    }
  }
  return true;
}

int body(viaduct::Job& job, int argc, char** argv) {
  Rank state;
  rank = &state;
  const auto number = [&](int at, std::uint32_t otherwise) {
    return argc > at ? static_cast<std::uint32_t>(std::strtoul(argv[at], nullptr, 10)) : otherwise;
  };
  state.plan = {number(1, 1000), number(2, 10), number(3, 2), number(4, 1 << 20) / 8};
  state.me = index(job.rank());
  state.from.resize(job.size());
  const std::uint32_t size = job.size();

  am::Context context(job);
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  (void)endpoint.make_segment(std::size_t{kAreas} * state.plan.bulk_words * 8);
  for (std::uint32_t area = 0; area < kAreas; ++area) state.free_areas.push_back(area);
  if (bundle.barrier() != Status::ok) return 1;

  const std::uint64_t start = viaduct::monotonic_ns();
  std::uint64_t last_line = start;
  const auto say_progress = [&](std::uint32_t served) {
    const std::uint64_t now = viaduct::monotonic_ns();
    if (state.me != 0 || now - last_line < kProgressNs) return;
    last_line = now;
    std::printf("all_pairs: %5.1f s: rank 0 has served %u of %u peers, %llu have served it\n",
                static_cast<double>(now - start) * 1e-9, served, size - 1,
                static_cast<unsigned long long>(state.complete));
    std::fflush(stdout);
  };
  std::vector<std::uint64_t> words(state.plan.bulk_words);
  for (std::uint32_t step = 1; step < size; ++step) {
    if (!serve_peer(bundle, endpoint, (state.me + step) % size, words)) return 1;
    say_progress(step);
  }
  while (state.complete < size - 1) {
    if (!grant_areas(endpoint)) return 1;
    if (state.complete < size - 1) (void)bundle.wait(1'000'000'000);
    say_progress(size - 1);
  }
  if (bundle.barrier() != Status::ok) return 1;
  const double seconds = static_cast<double>(viaduct::monotonic_ns() - start) * 1e-9;
  if (!counts_are_right(size)) ++state.wrong;
  if (bundle.barrier() != Status::ok) return 1;
  if (state.me == 0) {
    const double pairs = static_cast<double>(size) * (size - 1);
    std::printf(
        "all_pairs: %u ranks, %.0f ordered pairs, %.0f short, %.0f medium, %.0f bulk messages "
        "(%.2f GiB) in "
        "%.1f s%s\n",
        size, pairs, pairs * state.plan.shorts, pairs * state.plan.mediums,
        pairs * state.plan.bulks, pairs * state.plan.bulks * state.plan.bulk_words * 8 / (1 << 30),
        seconds, size == 64 ? " (wanted: less than 60 s)" : "");
  }
  return state.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
