// Random bytes as messages: rank 1 connects to rank 0's endpoint as an endpoint would, then sends
// it lines of nonsense.
//
//     viaduct-run -n 2 fuzz_lines [LINES [SEED]]
//
// Rank 0 must reject them, neither crash nor hang, and serve a well-behaved endpoint afterwards.
// Half of the lines are random throughout; the others are nearly right, to come further. Between
// the storms it forges control messages and asks for connections with a malformed block. Run it
// under the address sanitizer.

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "tests/fault/attacker.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/runtime/bootstrap.hpp"
#include "viaduct/runtime/segment.hpp"

namespace {

using namespace fault;

thread_local std::uint64_t answers = 0;
thread_local std::uint64_t wrong = 0;

void on_pong(am::Token&, std::uint64_t x, std::uint64_t y) {
  ++answers;
  if (y != x + 1) ++wrong;
}
// A forged reply may name a request's handler; replying to it would be this program's mistake.
bool may_reply(const am::Token& token) { return token.direction() == am::Direction::request; }
void on_ping(am::Token& token, std::uint64_t x) {
  if (may_reply(token)) token.reply<on_pong>(x, x + 1);
}
void on_many(am::Token&, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
             std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) {}
std::uint64_t sum_of(std::span<const std::byte> data) {
  std::uint64_t sum = 0;
  for (const std::byte b : data) sum += static_cast<std::uint64_t>(b);
  return sum;
}
thread_local volatile std::uint64_t sink = 0;
void on_payload_back(am::Token&, std::span<const std::byte> data, std::uint64_t sum) {
  ++answers;
  if (sum_of(data) != sum) ++wrong;
}
void on_payload(am::Token& token, std::span<const std::byte> data) {
  if (may_reply(token)) (void)token.reply_medium<on_payload_back>(data, sum_of(data));
}
void on_bulk(am::Token&, std::span<std::byte> data) { sink = sum_of(data); }

/// Makes the templates register their handlers, in every rank.
void never(am::Endpoint& e) {
  std::byte data[8] = {};
  const std::span<std::byte> all(data);
  (void)e.request<on_many>(am::Index{0}, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  (void)e.request_bulk<on_bulk>(am::Index{0}, all, 0);
}

/// Control messages that say anything, straight into the victim's mailbox. None of them may name a
/// place that lasts, as only a real connection can; what the victim answers goes to nobody.
void forge_control_messages(viaduct::Job& job, am::Context& context, Random& random,
                            std::uint64_t count) {
  const auto value = job.bootstrap().get(viaduct::Rank{0}, "via.nic.0");
  std::uint64_t offset = 0;
  if (value.size() != sizeof offset) return;
  std::memcpy(&offset, value.data(), sizeof offset);
  std::byte* const window = job.window_of(viaduct::Rank{0});
  auto* page = reinterpret_cast<shm::NicPage*>(window + offset);
  auto* entry = reinterpret_cast<shm::MailboxEntry*>(window + page->mailbox_offset) + 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    while (entry->full.load(std::memory_order_acquire) != 0) context.nic().progress();
    shm::ChannelOffer offer;
    offer.channel =
        random() % 2 == 0 ? random() : random() % job.segment().window_bytes() & ~std::uint64_t{63};
    offer.doorbell = random() % 2 == 0 ? random() : random() % (1 << 20) & ~std::uint64_t{63};
    offer.doorbell_bit = static_cast<std::uint16_t>(random() % 8192);
    offer.slots_log2 = static_cast<std::uint8_t>(random() % 40);
    viaduct::via::ControlHead head;
    head.kind = static_cast<std::uint16_t>(random() % 10);
    head.bytes = static_cast<std::uint16_t>(random() % 4 == 0 ? random() : sizeof offer);
    head.from = static_cast<std::uint32_t>(random());
    head.to = static_cast<std::uint32_t>(random());
    head.detail = static_cast<std::uint32_t>(random() % 2 == 0 ? random() : random() % 256);
    head.word = random() % 2 == 0 ? random() : std::uint64_t{0x414d} << 48;
    std::memcpy(entry->message.data(), &head, sizeof head);
    std::memcpy(entry->message.data() + sizeof head, &offer, sizeof offer);
    entry->full.store(1, std::memory_order_release);
    page->mailbox_words[0].fetch_or(2);
    page->control_waiting.store(1);
  }
  while (entry->full.load(std::memory_order_acquire) != 0) context.nic().progress();
}

/// The next endpoint that rank 1 claims to be: a connection that has ended over nonsense is lost
/// for good. 0 is the well-behaved one.
std::uint16_t next_number() {
  thread_local std::uint16_t number = 0;
  return ++number;
}

/// One storm: connections that are ended one after the other over what they bring, until all lines
/// are written; then a moment in which both sides meet.
bool attack(viaduct::Job& job, am::Context& context, Random& random, std::uint64_t lines,
            bool scribble) {
  {
    Attacker malformed(context, random, next_number());
    malformed.spoil_block();
    if (malformed.connect()) return false;
  }
  forge_control_messages(job, context, random, lines / 16);
  constexpr std::uint64_t kLinesEach = 64;  // where nothing ends the connection before
  for (std::uint64_t begun = 0; begun < lines; begun += kLinesEach * 8) {
    Attacker attacker(context, random, next_number());
    if (!attacker.connect()) return false;
    for (std::uint64_t i = 0; i < kLinesEach && attacker.send_line(); ++i) {
    }
    if (scribble) attacker.scribble();
  }
  const std::uint32_t ticket = job.barrier_arrive();
  while (job.barrier_done(ticket) == Status::retry) context.nic().progress();
  return true;
}

void suffer(viaduct::Job& job, am::Bundle& bundle, Random& random, std::uint64_t polls) {
  for (std::uint64_t i = 0; i < polls; ++i)
    (void)bundle.poll(random() % 2 == 0 ? am::Bundle::Run::all : am::Bundle::Run::replies);
  const std::uint32_t ticket = job.barrier_arrive();
  while (job.barrier_done(ticket) == Status::retry)
    (void)bundle.poll(random() % 2 == 0 ? am::Bundle::Run::all : am::Bundle::Run::replies);
}

bool talk_sense(am::Bundle& bundle, am::Endpoint& endpoint) {
  constexpr std::uint64_t kMessages = 1000;
  answers = 0;
  std::byte payload[512];
  for (std::size_t i = 0; i < sizeof payload; ++i) payload[i] = static_cast<std::byte>(i * 7);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    if (endpoint.request<on_ping>(am::Index{0}, i) != Status::ok) return false;
    if (endpoint.request_medium<on_payload>(am::Index{0}, std::span<const std::byte>(payload)) !=
        Status::ok)
      return false;
  }
  return bundle.wait_until([] { return answers == 2 * kMessages; }) == Status::ok && wrong == 0;
}

int body(viaduct::Job& job, int argc, char** argv) {
  const std::uint64_t lines = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4000;
  const std::uint64_t seed =
      argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device{}();
  constexpr int kStorms = 8;
  if (job.size() != 2) return 2;
  Random random(seed + index(job.rank()));
  am::Context context(job);
  if (index(job.rank()) == 0) {
    am::Bundle bundle(context);
    am::Endpoint endpoint(bundle);
    endpoint.map_all();
    (void)endpoint.make_segment(65536);
    std::uint64_t returned = 0;
    endpoint.set_undeliverable_handler([&](const am::Returned&) { ++returned; });
    if (argc > 100) never(endpoint);
    if (bundle.barrier() != Status::ok) return 1;
    for (int storm = 0; storm < kStorms; ++storm) suffer(job, bundle, random, lines / 64);
    if (bundle.barrier() != Status::ok) return 1;  // meanwhile rank 1 talks sense
    std::printf("fuzz_lines: %d storms of %" PRIu64 " lines survived; %" PRIu64
                " told to handler 0\n",
                kStorms, lines, returned);
    return 0;
  }
  std::printf("fuzz_lines: seed %" PRIu64 " is that of this run: fuzz_lines %" PRIu64
              " SEED repeats it\n",
              seed, lines);
  std::fflush(stdout);
  const std::uint32_t ticket = job.barrier_arrive();
  while (job.barrier_done(ticket) == Status::retry) context.nic().progress();
  for (int storm = 0; storm < kStorms; ++storm)
    if (!attack(job, context, random, lines, storm % 2 == 1)) return 3;
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  endpoint.map_all();
  if (!talk_sense(bundle, endpoint)) return 4;
  return bundle.barrier() == Status::ok ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
