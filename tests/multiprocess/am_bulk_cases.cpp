/// Bulk and get: sizes, odd places, what lies around them, and memory of either kind.

#include <sys/mman.h>
#include <cstdlib>
#include <numeric>

#include "tests/multiprocess/am_rig.hpp"
#include "via/channel/nic.hpp"
#include "viaduct/job.hpp"
#include "viaduct/runtime/error.hpp"
#include "viaduct/runtime/mapped_memory.hpp"
#include "viaduct/runtime/segment.hpp"

namespace viaduct::am_test {
namespace {

constexpr std::size_t kMiB = 1 << 20;
constexpr std::array<std::size_t, 9> kSizes{0, 1, 3, 64, 4097, 65537, kMiB - 1, kMiB, 20 * kMiB};
constexpr std::byte kGuard{0xA5};

thread_local std::uint32_t t_arrived = 0;
thread_local std::uint32_t t_done = 0;

void on_done(am::Token&) { ++t_done; }
void on_arrived(am::Token& token, std::span<std::byte> data, std::uint64_t seed, std::size_t offset,
                std::size_t bytes) {
  Note note("{} bytes at {}", bytes, offset);
  const auto segment = token.endpoint().segment();
  CHECK_EQ(data.size(), bytes);
  if (bytes != 0) CHECK(data.data() == segment.data() + offset);
  CHECK_EQ(first_wrong(data, seed), bytes);
  if (offset != 0) CHECK(segment[offset - 1] == kGuard);
  if (offset + bytes < segment.size()) CHECK(segment[offset + bytes] == kGuard);
  std::fill(data.begin(), data.end(), kGuard);
  ++t_arrived;
  token.reply<on_done>();
}

/// Every rank writes into its neighbour's segment; @p sources: whether from private memory or from
/// a window.
void write_all(Rig& rig, std::span<std::byte> source) {
  t_arrived = t_done = 0;
  rig.barrier();
  std::uint32_t sent = 0;
  for (const std::size_t bytes : kSizes)
    for (const std::size_t offset : {std::size_t{1}, std::size_t{63}, std::size_t{4099}}) {
      if (bytes > kMiB && offset != 63) continue;
      const std::uint64_t seed = bytes + offset + rig.rank();
      const auto data = source.subspan(bytes < 64 ? 5 : 1, bytes);
      fill(data, seed);
      rig.ok(
          rig.endpoint().request_bulk<on_arrived>(rig.next(), data, offset, seed, offset, bytes));
      std::fill(data.begin(), data.end(), std::byte{0});  // ours again
      ++sent;
      rig.until([&] { return t_done == sent; });
    }
  rig.until([&] { return t_arrived == sent; });
  rig.barrier();
  CHECK_EQ(t_arrived, sent);
}

constexpr std::size_t kSegment = 20 * kMiB + 5000;

void bulk_to_window(Rig& rig) {
  const auto segment = rig.endpoint().make_segment(kSegment);
  std::fill(segment.begin(), segment.end(), kGuard);
  rig.barrier();
  std::vector<std::byte> source(kSegment);
  write_all(rig, source);
}

/// The receiver can fetch what lies in the sender's window itself.
void bulk_between_windows(Rig& rig) {
  const auto segment = rig.endpoint().make_segment(kSegment);
  std::fill(segment.begin(), segment.end(), kGuard);
  am::Endpoint spare(rig.bundle());
  const auto source = spare.make_segment(kSegment);
  rig.barrier();
  write_all(rig, source);
}

constexpr std::size_t kBlock = 256 << 10;
void on_block(am::Token&, std::span<std::byte> data, std::uint64_t seed) {
  CHECK_EQ(first_wrong(data, seed), data.size());
  ++t_arrived;
}

/// A receiver that does not poll is not waited for, and finds the data when it polls: those that
/// the sender has copied, and those that it fetches.
void bulk_to_a_busy_receiver(Rig& rig) {
  if (rig.context().nic().is_remote(Rank{am::value(rig.next())})) return;
  constexpr std::uint64_t kBlocks = 16;
  t_arrived = 0;
  rig.endpoint().make_segment(kBlocks * kBlock);
  am::Endpoint spare(rig.bundle());
  const auto window = spare.make_segment(kBlock);
  std::vector<std::byte> memory(kBlock);
  rig.barrier();
  rig.drain();
  std::uint64_t sent = 0;
  const auto send_all = [&] {  // or as many as there are credits
    while (sent < kBlocks) {
      const std::span<std::byte> source = sent % 2 == 0 ? window : std::span(memory);
      fill(source, sent);
      const Status status =
          rig.endpoint().try_request_bulk<on_block>(rig.next(), source, sent * kBlock, sent);
      if (status == Status::retry) break;
      rig.ok(status);
      std::fill(source.begin(), source.end(), std::byte{0});  // ours again
      ++sent;
    }
    CHECK(sent != 0);
  };
  if (rig.rank() % 2 == 0) send_all();
  rig.fence();  // until then the odd ranks do not poll
  if (rig.rank() % 2 != 0) send_all();
  const std::uint64_t expected = rig.exchange(sent)[am::value(rig.previous())];
  rig.until([&] { return t_arrived == expected; });
  rig.barrier();
}

/// Each rank answers its neighbour's blocks with blocks, all at the same time.
void on_answer(am::Token&, std::span<std::byte> data, std::uint64_t seed) {
  CHECK_EQ(first_wrong(data, seed), data.size());
  ++t_done;
}
thread_local std::span<std::byte> t_source;
void on_question(am::Token& token, std::span<std::byte> data, std::uint64_t seed) {
  CHECK_EQ(first_wrong(data, seed), data.size());
  fill(t_source, seed + 1);
  CHECK_EQ(token.reply_bulk<on_answer>(t_source, kBlock, seed + 1), Status::ok);
  ++t_arrived;
}
void bulk_answered_by_bulk(Rig& rig) {
  constexpr std::uint64_t kTurns = 20;
  t_arrived = t_done = 0;
  rig.endpoint().make_segment(2 * kBlock);
  am::Endpoint spare(rig.bundle());
  const auto own = spare.make_segment(2 * kBlock);
  t_source = own.subspan(kBlock);
  rig.barrier();
  for (std::uint64_t i = 1; i <= kTurns; ++i) {
    fill(own.first(kBlock), i);
    rig.ok(rig.endpoint().request_bulk<on_question>(rig.next(), own.first(kBlock), 0, i));
    rig.until([&] { return t_done == i; });
  }
  rig.until([] { return t_arrived == kTurns; });
  rig.barrier();
}

bool private_memory_allowed() {
  const char* setting = std::getenv("VIADUCT_CROSS_MEMORY");
  return setting == nullptr || std::string_view(setting) != "no";
}

void bulk_to_private(Rig& rig) {
  std::vector<std::byte> memory(kSegment + 3, kGuard);
  const std::span<std::byte> segment = std::span(memory).subspan(3);
  if (!private_memory_allowed() && !rig.job().threads_mode() && rig.size() > 1) {
    try {
      rig.endpoint().set_segment(segment);
      conformance::check(false, "set_segment must throw", Where::here());
    } catch (const Error& error) {
      CHECK(std::string_view(error.what()).find("VIADUCT_CROSS_MEMORY") != std::string_view::npos);
    }
    return;
  }
  rig.endpoint().set_segment(segment);
  CHECK(rig.endpoint().segment().data() == segment.data());
  rig.barrier();
  std::vector<std::byte> source(kSegment);
  write_all(rig, source);
}

void on_got(am::Token& token, std::span<std::byte> data, std::uint64_t seed, std::size_t bytes) {
  CHECK(token.direction() == am::Direction::reply);
  CHECK_EQ(data.size(), bytes);
  CHECK_EQ(first_wrong(data, seed), bytes);
  ++t_done;
}

void read_all(Rig& rig, std::span<std::byte> segment) {
  t_done = 0;
  rig.barrier();
  std::uint32_t asked = 0;
  for (const std::size_t bytes : kSizes) {
    const std::size_t offset = 4099;
    const std::uint64_t seed = bytes + 1;
    fill(segment.subspan(offset, bytes), seed + rig.rank());
    rig.barrier();
    std::vector<std::byte> target(bytes + 13, kGuard);
    const auto data = std::span(target).subspan(5, bytes);
    rig.ok(
        rig.endpoint().get<on_got>(rig.next(), data, offset, seed + am::value(rig.next()), bytes));
    ++asked;
    rig.until([&] { return t_done == asked; });
    CHECK(target[4] == kGuard);
    CHECK(target[5 + bytes] == kGuard);
    rig.barrier();
  }
}

void get_from_window(Rig& rig) { read_all(rig, rig.endpoint().make_segment(kSegment)); }

void get_from_private(Rig& rig) {
  if (!private_memory_allowed()) return;
  std::vector<std::byte> memory(kSegment);
  rig.endpoint().set_segment(memory);
  read_all(rig, memory);
  rig.barrier();
}

/// A segment that may only be read: bulk data come back, of lengths that the sender and that the
/// receiver copies, and gets go on.
void bulk_to_read_only(Rig& rig) {
  if (!private_memory_allowed()) return;
  const MappedMemory memory(
      ::mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), kBlock);
  const std::span segment(memory.get(), kBlock);
  constexpr std::uint64_t kSeed = 7;
  fill(segment, kSeed + rig.rank());
  CHECK_EQ(::mprotect(memory.get(), kBlock, PROT_READ), 0);
  try {
    rig.endpoint().set_segment(segment);
  } catch (const Error&) {  // a device that transports channels registers no such memory
    CHECK(rig.context().nic().transport() != nullptr);
    CHECK(std::getenv("VIADUCT_AM_GENERATION") == nullptr);
    return;
  }
  t_arrived = t_done = 0;
  am::Endpoint spare(rig.bundle());
  const auto own = spare.make_segment(kBlock);
  rig.barrier();
  std::uint32_t asked = 0;
  for (const std::size_t bytes : {std::size_t{16}, std::size_t{8192}, kBlock}) {
    Note note("{} bytes", bytes);
    rig.ok(rig.endpoint().request_bulk<on_block>(rig.next(), own.first(bytes), 0, kSeed));
    rig.until([&] { return !rig.back.empty(); });
    CHECK_EQ(rig.back[0].status, am::Undeliverable::bad_offset);
    rig.back.clear();
    rig.ok(rig.endpoint().get<on_got>(rig.next(), own.first(bytes), 0,
                                      kSeed + am::value(rig.next()), bytes));
    ++asked;
    rig.until([&] { return t_done == asked; });
  }
  rig.barrier();
  CHECK_EQ(t_arrived, 0);
}

/// Typed data: doubles arrive as doubles.
thread_local double t_sum = 0;
void on_doubles(am::Token&, std::span<double> data, double factor) {
  t_sum = factor * std::accumulate(data.begin(), data.end(), 0.0);
}
void typed_elements(Rig& rig) {
  t_sum = 0;
  rig.endpoint().make_segment(8 * 1000);
  rig.barrier();
  std::vector<double> data(1000, 0.5);
  rig.ok(rig.endpoint().request_bulk<on_doubles>(rig.next(), std::span(data), 0, 3.0));
  rig.until([] { return t_sum != 0; });
  CHECK_EQ(t_sum, 1500.0);
}

/// Another segment takes the first one's place.
void replaced_segment(Rig& rig) {
  t_arrived = t_done = 0;
  rig.barrier();
  for (const std::size_t bytes : {std::size_t{500}, 3 * kMiB, std::size_t{70}}) {
    const auto segment = rig.endpoint().make_segment(bytes);
    CHECK_EQ(segment.size(), bytes);
    std::fill(segment.begin(), segment.end(), kGuard);
    rig.barrier();
    std::vector<std::byte> data(bytes);
    fill(data, bytes);
    const std::uint32_t before = t_done;
    rig.ok(rig.endpoint().request_bulk<on_arrived>(rig.next(), std::span(data), 0, bytes,
                                                   std::size_t{0}, bytes));
    rig.until([&] { return t_done == before + 1; });
    rig.barrier();
  }
  CHECK_EQ(t_arrived, 3);
}

constexpr std::array kCases{
    Case{"bulk.to_window", Needs::any, bulk_to_window},
    Case{"bulk.to_private", Needs::any, bulk_to_private},
    Case{"bulk.to_read_only", Needs::any, bulk_to_read_only},
    Case{"bulk.between_windows", Needs::any, bulk_between_windows},
    Case{"bulk.to_a_busy_receiver", Needs::any, bulk_to_a_busy_receiver},
    Case{"bulk.answered_by_bulk", Needs::any, bulk_answered_by_bulk},
    Case{"bulk.get_from_window", Needs::any, get_from_window},
    Case{"bulk.get_from_private", Needs::any, get_from_private},
    Case{"bulk.typed_elements", Needs::any, typed_elements},
    Case{"bulk.replaced_segment", Needs::any, replaced_segment},
};

}  // namespace

std::span<const Case> bulk_cases() { return kCases; }

}  // namespace viaduct::am_test
