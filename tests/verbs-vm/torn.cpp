/// @file
/// usage: torn [WRITES], over verbs, two ranks. Rank 1's device writes a counter into rank 0's
/// memory, again and again, and rank 0 reads it meanwhile: what it takes for the counter
/// (viaduct/via/slot.hpp) is always one that was written. Prints how many words were read while
/// they were being written.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>

#include "viaduct/job.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/via/nic.hpp"
#include "viaduct/via/slot.hpp"

namespace {

using namespace viaduct;
namespace checked_counter = via::checked_counter;

constexpr std::uint64_t kBoundNs = 60'000'000'000;  // for one write
std::uint64_t g_writes = 20'000;
constexpr std::uint64_t kStep = 0x010101;  // so each write changes three bytes, or all four

bool g_wrong = false;
void expect(bool passed, const char* what) {
  if (passed) return;
  std::printf("not so: %s\n", what);
  g_wrong = true;
}

struct Place {
  std::uint64_t address;
  std::uint32_t handle;
};

void read_counter(Job& job, via::Vi& vi, const std::atomic<std::uint64_t>& word) {
  job.bootstrap().fence();
  std::uint64_t changed_ns = monotonic_ns();
  std::uint64_t counter = 0;
  std::uint64_t torn = 0;
  std::uint64_t seen = 0;
  while (counter != g_writes * kStep) {
    const std::uint64_t now = word.load(std::memory_order_acquire);
    if (now != 0 && static_cast<std::uint32_t>(now) % kStep != 0) ++torn;
    const std::uint64_t before = counter;
    counter = checked_counter::take(now, before);
    const std::uint64_t now_ns = monotonic_ns();
    if (counter != before) {
      ++seen;
      changed_ns = now_ns;
    }
    if (counter % kStep != 0 || now_ns - changed_ns > kBoundNs) break;
  }
  expect(counter % kStep == 0, "each counter that was taken was written");
  expect(counter == g_writes * kStep, "the last one arrives");
  expect(vi.state() == via::ViState::connected, "and nothing has failed");
  std::printf("%lu of %lu counters taken; %lu looks at one that was half written\n",
              static_cast<unsigned long>(seen), static_cast<unsigned long>(g_writes),
              static_cast<unsigned long>(torn));
}

void write_counter(Job& job, via::Vi& vi, std::byte* memory, via::MemoryHandle handle) {
  job.bootstrap().fence();
  Place there;
  std::memcpy(&there, job.bootstrap().get(Rank{0}, "place").data(), sizeof there);
  for (std::uint64_t i = 1; i <= g_writes; ++i) {
    const std::uint64_t word = checked_counter::word_of(i * kStep);
    std::memcpy(memory, &word, sizeof word);
    via::Descriptor write{};
    via::make_rdma_write(write, memory, sizeof word, handle, there.address,
                         via::MemoryHandle{there.handle});
    expect(vi.post_send(write) == Status::ok, "a write is posted");
    via::Descriptor* done = nullptr;
    const bool went =
        vi.send_wait(done, kBoundNs) == Status::ok && done == &write && !write.failed();
    if (!went) return expect(false, "a write is done");
  }
}

int body(Job& job, int argc, char** argv) {
  if (argc > 1) g_writes = std::strtoull(argv[1], nullptr, 10);
  const bool reads = index(job.rank()) == 0;
  const auto nic = via::open_nic(job, "verbs");
  via::ViAttributes attributes;
  attributes.tag = nic->create_tag();
  std::byte* const memory = nic->allocate(64);
  auto* const word = new (memory) std::atomic<std::uint64_t>{0};
  {
    const auto region = nic->register_memory(attributes.tag, memory, 64, via::Rights::rdma_write);
    const Place place{reinterpret_cast<std::uint64_t>(memory),
                      static_cast<std::uint32_t>(region.handle())};
    job.bootstrap().put("place", std::as_bytes(std::span(&place, 1)));
    const auto vi = nic->create_vi(attributes);
    const Rank other{1 - index(job.rank())};
    expect(vi->connect_peer_start(other, 1) == Status::ok &&
               vi->connect_peer_wait(static_cast<std::int64_t>(kBoundNs)) ==
                   via::ConnectResult::connected,
           "they are connected");
    if (reads)
      read_counter(job, *vi, *word);
    else
      write_counter(job, *vi, memory, region.handle());
    job.bootstrap().fence();
    vi->disconnect();
  }
  nic->release(memory);
  std::fflush(stdout);
  return g_wrong ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) { return run(body, argc, argv); }
