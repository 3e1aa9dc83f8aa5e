// Process 1 writes nonsense into its connection with process 0, which must end with a sentence and
// not by a signal.
//
//     viaduct-run -n 2 splitc_nonsense WHAT [SEED]
//
// WHAT: lines (random words under headers that are nearly right), ring (random bytes in all of it),
// counters, reply (a reply that names memory of nobody's).

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "splitc/src/machine_impl.hpp"
#include "viaduct/runtime/clock.hpp"
#include "viaduct/splitc.hpp"

namespace {

namespace detail = viaduct::splitc::detail;
namespace header = viaduct::via::header;
namespace via = viaduct::via;
using detail::wire_format::Op;
using Random = std::mt19937_64;

int cell = 0;

void send(via::channel::Channel& channel, std::uint64_t head, const std::uint64_t* words) {
  via::Slot* const slot = channel.claim();
  if (slot == nullptr) return;
  std::memcpy(slot->words, words, sizeof slot->words);
  channel.publish(*slot, head);
}

/// All operations but those that run a function: what they name is run, if it is one.
std::uint64_t nearly_right(Random& random) {
  constexpr std::uint32_t kOps = 20;
  const auto client = random() % (1ULL << 32) & ~0x1fULL;
  std::uint64_t op = random() % kOps;
  if (op == static_cast<std::uint64_t>(Op::call) || op == static_cast<std::uint64_t>(Op::run))
    op = 0;
  return header::make(via::MessageKind::inline_data, static_cast<std::uint32_t>(random() % 80),
                      client | op) |
         (random() % 4 == 0 ? (random() & 0xfe) : 0);
}

void attack(detail::Channel& c, std::string_view what, Random& random) {
  via::channel::Channel& channel = *c.channel;
  std::uint64_t words[7];
  if (what == "lines") {
    for (int i = 0; i < 64; ++i) {
      for (std::uint64_t& word : words)
        word = random() % 3 == 0 ? random() % 100 : random() >> (random() % 40);
      send(channel, nearly_right(random), words);
    }
  } else if (what == "ring") {
    for (std::uint64_t i = 0; i < 64; ++i) {
      auto& slot = const_cast<via::Slot&>(channel.sent_slot(i));
      for (std::uint64_t& word : slot.words) word = random();
      slot.header.store(random(), std::memory_order_release);
    }
  } else if (what == "counters") {
    channel.publish_counter(0, 1 + random());
  } else if (what == "reply") {
    words[0] = 8 * random();
    send(channel,
         header::make(via::MessageKind::inline_data, 16,
                      detail::wire_format::make(Op::value, 0, 0, c.served + 1)),
         words);
  }
}

/// Process 0 waits for something that does not come.
int suffer() {
  viaduct::splitc::global_ptr<int> theirs = viaduct::splitc::toglobal(1, &cell);
  try {
    while (true) (void)viaduct::splitc::read(theirs);  // each waits for an answer
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "splitc_nonsense: told: %s\n", problem.what());
    return 3;
  }
}

}  // namespace

int splitc_main(int argc, char** argv) {
  if (argc < 2 || PROCS != 2) return 2;
  viaduct::splitc::barrier();
  if (MYPROC == 0) return suffer();
  Random random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  detail::Machine::Impl& impl = detail::machine("nonsense").impl();
  detail::Channel& c = impl.make_channel(0, 0);  // the barrier has made it
  // A read has come, and is not answered.
  while (!c.channel->has_arrivals()) impl.nic->progress();
  attack(c, argv[1], random);
  viaduct::ring_doorbell(impl.job.record(viaduct::Rank{0}));
  const std::uint64_t start = viaduct::monotonic_ns();
  while (viaduct::monotonic_ns() - start < 60'000'000'000) impl.nic->progress();
  return 4;
}
