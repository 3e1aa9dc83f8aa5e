/// @file
/// Bulk transfers from and to registered memory, over verbs, two ranks:
///
///   registration content     memory is unmapped, mapped again, moved, discarded, trimmed, shared
///                            with a child between transfers: what arrives is what is there
///   registration limited N   twice as much memory as the N bytes that may be registered
///   registration register
///   registration measure     what a registration, a cached one and transfers of both kinds cost

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "via/registration_cache.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/runtime/stats.hpp"

namespace {

using namespace viaduct;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSegment = 4 * kMiB;
constexpr std::int64_t kLimitNs = 100'000'000'000;

std::uint64_t g_done = 0;
bool g_wrong = false;

void expect(bool passed, const std::string& what) {
  if (passed) return;
  fmt::print("not so: {}\n", what);
  g_wrong = true;
}

void fill(std::span<std::uint64_t> words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = seed * 0x9e3779b97f4a7c15 + i;
}
bool filled(std::span<const std::uint64_t> words, std::uint64_t seed) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] != seed * 0x9e3779b97f4a7c15 + i) return false;
  return true;
}

void on_done(am::Token&) { ++g_done; }
void on_bulk(am::Token& token, std::span<std::uint64_t> data, std::uint64_t seed) {
  if (seed != 0) expect(filled(data, seed), fmt::format("transfer {} has the new content", seed));
  token.reply<on_done>();
}
void on_got(am::Token&, std::span<std::uint64_t> data, std::uint64_t seed) {
  if (seed != 0) expect(filled(data, seed), fmt::format("get {} is where it belongs", seed));
  ++g_done;
}

class Sender {
 public:
  explicit Sender(Job& job) : job_(job), context_(job), bundle_(context_), endpoint_(bundle_) {
    endpoint_.map_all();
    segment_ = endpoint_.make_segment(kSegment);
    expect(bundle_.barrier() == Status::ok, "both are there");
  }
  [[nodiscard]] bool first() const { return index(job_.rank()) == 0; }
  /// The other rank's part.
  void serve() { expect(bundle_.barrier() == Status::ok, "the end"); }

  /// Writes what is at @p words, which has been filled with @p seed, and gets it back there.
  void send(std::span<std::uint64_t> words, std::uint64_t seed) {
    const std::uint64_t before = g_done;
    expect(endpoint_.request_bulk<on_bulk>(kOther, words, 0, seed) == Status::ok, "a request");
    finish(before + 1);
  }
  void get(std::span<std::uint64_t> words, std::uint64_t seed) {
    const std::uint64_t before = g_done;
    expect(endpoint_.get<on_got>(kOther, words, 0, seed) == Status::ok, "a get");
    finish(before + 1);
  }
  void both_ways(std::span<std::uint64_t> words, std::uint64_t seed) {
    fill(words, seed);
    send(words, seed);
    std::fill(words.begin(), words.end(), 0);
    get(words, seed);
  }
  [[nodiscard]] std::uint64_t counter(const std::string& name) {
    std::uint64_t sum = 0;
    for (const auto& row : job_.stats().rows())
      if (row.layer == "transport" && row.name == name) sum += row.value;
    return sum;
  }
  [[nodiscard]] std::span<std::uint64_t> segment(std::size_t bytes) {
    return {reinterpret_cast<std::uint64_t*>(segment_.data()), bytes / 8};
  }
  am::Context& context() { return context_; }

 private:
  static constexpr am::Index kOther{1};
  void finish(std::uint64_t wanted) {
    expect(bundle_.wait_until([wanted] { return g_done >= wanted; }, kLimitNs) == Status::ok,
           "an answer in time");
  }
  Job& job_;
  am::Context context_;
  am::Bundle bundle_;
  am::Endpoint endpoint_;
  std::span<std::byte> segment_;
};

std::span<std::uint64_t> map(std::size_t bytes, void* at = nullptr) {
  void* const address =
      ::mmap(at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | (at != nullptr ? MAP_FIXED : 0), -1, 0);
  expect(address != MAP_FAILED, "memory");
  return {static_cast<std::uint64_t*>(address), bytes / 8};
}

void content(Sender& sender) {
  std::uint64_t seed = 0;
  std::span<std::uint64_t> words = map(kMiB);
  void* const address = words.data();
  for (int i = 0; i < 5; ++i) {
    sender.both_ways(words, ++seed);
    sender.both_ways(words, ++seed);
    ::munmap(address, kMiB);
    words = map(kMiB, address);
  }
  expect(sender.counter("registrations") == 5,
         "each memory was registered once, when it was used again");
  expect(sender.counter("dropped") >= 4, "and dropped with its end");
  expect(sender.counter("cache_hits") >= 14, "and found again");
  sender.both_ways(words, ++seed);
  (void)map(kMiB / 2, reinterpret_cast<char*>(address) + kMiB / 4);  // over the middle
  sender.both_ways(words, ++seed);
  ::madvise(address, kMiB, MADV_DONTNEED);
  sender.both_ways(words, ++seed);
  const auto other = map(kMiB);
  sender.both_ways(other, ++seed);
  const auto moved = map(kMiB);
  sender.both_ways(moved, ++seed);
  expect(::mremap(moved.data(), kMiB, kMiB, MREMAP_MAYMOVE | MREMAP_FIXED, other.data()) ==
             other.data(),
         "what is watched can be moved");
  sender.both_ways(other, ++seed);
  ::munmap(address, kMiB);
  words = map(kMiB, address);
  sender.both_ways(words, ++seed);
  // A child shares the pages until one of both writes.
  const pid_t child = ::fork();
  if (child == 0) {
    fill(words, 77);
    ::munmap(other.data(), kMiB);
    ::_exit(0);
  }
  sender.both_ways(words, ++seed);
  ::waitpid(child, nullptr, 0);
  sender.both_ways(words, ++seed);
  sender.both_ways(other, ++seed);
  for (int i = 0; i < 20; ++i) {  // from the heap
    std::vector<std::uint64_t> block((64 + static_cast<std::size_t>(i % 7) * 100) * 1024 / 8);
    sender.both_ways(block, ++seed);
  }
  // Read-only memory can be sent, and received into when it is no more; memory of a file is copied.
  const auto fixed = map(kMiB);
  fill(fixed, ++seed);
  ::mprotect(fixed.data(), kMiB, PROT_READ);
  const std::uint64_t before = sender.counter("registrations");
  for (int i = 0; i < 3; ++i) sender.send(fixed, seed);
  expect(sender.counter("registrations") == before + 1, "read-only memory was registered");
  ::mprotect(fixed.data(), kMiB, PROT_READ | PROT_WRITE);
  sender.both_ways(fixed, ++seed);
  expect(sender.counter("registrations") == before + 2, "and again to be written");
  const std::uint64_t copied = sender.counter("copied");
  const int file = ::memfd_create("registration", MFD_CLOEXEC);
  expect(::ftruncate(file, kMiB) == 0, "a file");
  auto* const shared = static_cast<std::uint64_t*>(
      ::mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  sender.both_ways({shared, kMiB / 8}, ++seed);
  expect(sender.counter("copied") == copied + 2 * kMiB, "a file's memory is copied");
  sender.both_ways(sender.segment(kMiB), ++seed);
  expect(sender.counter("copied") == copied + 2 * kMiB, "a segment is not");
  expect(sender.counter("unsure") == 0, "no memory was being unmapped");
  fmt::print("{} transfers: {} registrations, {} hits, {} dropped\n", 2 * seed,
             sender.counter("registrations"), sender.counter("cache_hits"),
             sender.counter("dropped"));
}

void limited(Sender& sender, std::size_t limit) {
  std::uint64_t seed = 0;
  std::vector<std::span<std::uint64_t>> blocks;
  for (std::size_t i = 0; i < 2 * limit / (256 * 1024); ++i) {
    blocks.push_back(map(256 * 1024));
    map(4096);  // so that they are not one
  }
  for (int round = 0; round < 2; ++round)
    for (const auto& block : blocks) sender.both_ways(block, ++seed);
  const std::size_t too_large = std::min(limit + 4096, kSegment);
  sender.both_ways(map(too_large), ++seed);
  fmt::print("at most {} bytes were registered of {}, {} evicted, {} copied\n",
             sender.counter("most_pinned"), limit, sender.counter("evicted"),
             sender.counter("copied"));
  expect(sender.counter("most_pinned") <= limit, "the limit holds");
  expect(sender.counter("evicted") != 0, "some had to go");
  expect(sender.counter("copied") >= (too_large > limit ? 2 * too_large : 0),
         "what is too large is copied");
}

template <class Do>
double ns_of(int count, const Do& what) {
  double best = 1e18;
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t start = monotonic_ns();
    for (int i = 0; i < count; ++i) what();
    best = std::min(best, static_cast<double>(monotonic_ns() - start) / count);
  }
  return best;
}

void measure_registering(Job& job) {
  const auto nic = via::open_nic(job, "verbs");
  const via::ProtectionTag tag = nic->create_tag();
  if (index(job.rank()) == 0) {
    via::RegistrationCache cache(*nic, tag, {64 * kMiB, 64});
    for (const std::size_t bytes : {64UL * 1024, 256UL * 1024, kMiB, 4 * kMiB}) {
      const auto words = map(bytes);
      fill(words, 1);
      auto* const address = reinterpret_cast<std::byte*>(words.data());
      const double once = ns_of(20, [&] {
        const auto region = nic->register_memory(tag, address, bytes, via::Rights::none);
      });
      {
        const auto pin = cache.get(address, bytes);
        const auto again = cache.get_early(address + 4096, bytes - 4096);
        expect(pin && again && again.handle() == pin.handle(), "one region for both");
      }
      const double early = ns_of(2000, [&] { (void)cache.get_early(address, bytes); });
      const double exact = ns_of(2000, [&] { (void)cache.get(address, bytes); });
      std::vector<std::byte> copy(bytes);
      const double copied = ns_of(20, [&] {
        std::memcpy(copy.data(), address, bytes);
        asm volatile("" ::"r"(copy.data()) : "memory");
      });
      fmt::print("to copy them costs {:.2f} of the registration of {} bytes\n", copied / once,
                 bytes);
      fmt::print(
          "register and deregister {:>8} bytes: {:7.1f} us, cached without a system call 1/{:.0f}, "
          "exactly 1/{:.0f}\n",
          bytes, once / 1000, once / early, once / exact);
      ::munmap(address, bytes);
    }
    cache.sweep();
    expect(cache.counters().pinned_bytes == 0, "what is unmapped is released");
  }
  nic->destroy_tag(tag);
}

void measure(Sender& sender) {
  for (const std::size_t bytes :
       {16UL * 1024, 32UL * 1024, 64UL * 1024, 256UL * 1024, kMiB, 4 * kMiB}) {
    const auto words = map(bytes);
    fill(words, 1);
    const int count = static_cast<int>(std::max<std::size_t>(4, 2 * kMiB / bytes));
    const double out = ns_of(count, [&] { sender.send(words, 0); });
    const double in = ns_of(count, [&] { sender.get(words, 0); });
    fmt::print("{:>8} bytes: bulk {:9.1f} us, get {:9.1f} us\n", bytes, out / 1000, in / 1000);
    ::munmap(words.data(), bytes);
  }
  fmt::print("copied {} bytes, direct {} bytes\n", sender.counter("copied"),
             sender.counter("direct"));
}

int body(Job& job, int argc, char** argv) {
  const std::string what = argc >= 2 ? argv[1] : "";
  if (job.size() != 2) return 2;
  if (what == "register") {
    measure_registering(job);
    std::fflush(stdout);
    return g_wrong ? 1 : 0;
  }
  Sender sender(job);
  if (sender.first()) {
    if (what == "content") content(sender);
    if (what == "limited") limited(sender, std::stoull(argv[2]));
    if (what == "measure") measure(sender);
  }
  sender.serve();
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
