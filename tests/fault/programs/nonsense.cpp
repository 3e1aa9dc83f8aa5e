// A peer writes nonsense, one kind after the other: rank 1 claims to be an endpoint, takes no
// request of rank 0's, and writes what no endpoint writes. Rank 0 must end each connection, so that
// its own requests come back, and must serve its other peers as before.
//
//     viaduct-run -n 2 nonsense [RINGS [SEED]]
//
// After the single kinds come RINGS rings of random bytes.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include "tests/fault/attacker.hpp"
#include "viaduct/am/bundle.hpp"
#include "viaduct/am/endpoint.hpp"

namespace {

using namespace fault;
namespace header = via::header;
namespace wire_format = am::detail::wire_format;
using am::Operation;
using am::detail::Kind;

void on_short(am::Token&, std::uint64_t) {}
void on_medium(am::Token&, std::span<const std::byte>) {}
void on_bulk(am::Token&, std::span<std::byte>) {}

constexpr auto kInline = via::MessageKind::inline_data;
constexpr std::uint16_t kTyped = am::kOwnHandlers;

std::uint64_t message(std::uint64_t client, std::uint32_t length = 8,
                      via::MessageKind kind = kInline) {
  return header::make(kind, length, client);
}
std::uint64_t request(Operation operation, std::uint16_t handler = kTyped) {
  return wire_format::make(Kind::request, operation, handler);
}

void send(Attacker& a, std::uint64_t head, std::uint64_t word = 0) {
  via::Slot* const slot = a.vi().claim();
  if (slot == nullptr) return;
  slot->words[0] = word;
  a.vi().publish(*slot, head);
}

/// What the victim reads beside messages, again and again: the block, the segment's page, payloads.
/// None of it may lead anywhere; then a message that ends it.
void scribble_beside(Attacker& a) {
  Random random(5);
  const auto any = [&] { return random() >> (random() % 60); };
  for (int i = 0; i < 20'000; ++i) {
    a.page().segment_address.store(any());
    a.page().segment_bytes.store(any());
    a.page().segment_handle.store(static_cast<std::uint32_t>(any()));
    a.page().protection_tag = static_cast<std::uint32_t>(any());
    a.block().tag.store(any());
    a.block().endpoint_page = any();
    a.block().medium_bytes = static_cast<std::uint32_t>(any());
    a.block().medium()[random() % 4096] = static_cast<std::byte>(random());
    if (i % 64 == 0) a.drain();
  }
  a.block().medium_bytes = 0;
  send(a, message(request(Operation::get), 16));
}

enum class Look : std::uint8_t {
  woken,    // the victim sleeps, and is woken behind it
  alone,    // it sleeps, and looks by itself
  holding,  // it lets no requests run: they heap up
  busy,     // it goes on sending, and copies to and from what is its peer's segment
};

/// Two requests have come from the victim when it is called.
struct Attack {
  const char* name;
  std::function<void(Attacker&)> write;
  Look look = Look::woken;
  bool answers = false;  // it answers the victim's requests
};

std::vector<Attack> attacks() {
  return {
      {"a length beyond the line",
       [](Attacker& a) { send(a, message(request(Operation::medium), 200)); }},
      {"a kind that is none",
       [](Attacker& a) {
         send(a, message(request(Operation::medium), 8, via::MessageKind::staged));
       }},
      {"more lines than a message has",
       [](Attacker& a) { send(a, message(request({})) | 3ULL << header::lines_shift); }},
      {"a second line that is none",
       [](Attacker& a) { send(a, message(request({}), 60) | 1ULL << header::lines_shift); }},
      {"bits that nobody uses", [](Attacker& a) { send(a, message(request({}) | 1ULL << 40)); }},
      {"the operation get", [](Attacker& a) { send(a, message(request(Operation::get), 16)); }},
      {"a handler beyond the table", [](Attacker& a) { send(a, message(request({}, 0x7fff))); }},
      {"too short for its operation",
       [](Attacker& a) { send(a, message(request(Operation::bulk), 8)); }},
      {"a payload where none is",
       [](Attacker& a) { send(a, message(request(Operation::medium)), 64 | 8ULL << 32); }},
      {"a payload longer than the ring",
       [](Attacker& a) { send(a, message(request(Operation::medium)), 1ULL << 48); }},
      {"a payload longer than its lines",
       [](Attacker& a) {
         send(a, message(request(Operation::medium) | wire_format::in_lines_bit), 49ULL << 32);
       }},
      {"a payload of its lines that has a start in the ring",
       [](Attacker& a) {
         send(a, message(request(Operation::medium) | wire_format::in_lines_bit), 8ULL << 32 | 64);
       }},
      {"a payload in the lines of a short message",
       [](Attacker& a) { send(a, message(request({}) | wire_format::in_lines_bit), 8ULL << 32); }},
      {"a payload in the lines of a message that returns",
       [](Attacker& a) {
         send(a,
              message(wire_format::make(Kind::returned_request, Operation::medium, kTyped) |
                      wire_format::in_lines_bit | 1ULL << wire_format::status_shift),
              8ULL << 32);
       }},
      {"payloads that lie on each other",
       [](Attacker& a) {
         const std::uint64_t bytes = a.block().medium_bytes / 2;
         for (std::uint64_t i = 0; i < 3; ++i)
           send(a, message(request(Operation::medium)), i % 2 * bytes | bytes << 32);
       },
       Look::holding},
      {"an overflow block outside the window",
       [](Attacker& a) {
         send(a,
              message(wire_format::make(Kind::reply, Operation::medium, kTyped) |
                      wire_format::overflow_bit),
              ~std::uint64_t{63});
       }},
      {"more replies than requests",
       [](Attacker& a) {
         // Of the right shape, as others would be refused without bringing a credit.
         const std::uint16_t handler = am::detail::handler_number<on_medium>();
         for (std::uint32_t i = 0; i < 2 * a.block().credits; ++i)
           send(a, message(wire_format::make(Kind::reply, Operation::medium, handler)), 0);
       },
       Look::woken, true},
      {"a return without a reason",
       [](Attacker& a) {
         send(a, message(wire_format::make(Kind::returned_request, {}, kTyped)));
       }},
      {"more requests than credits",
       [](Attacker& a) {
         for (std::uint32_t i = 0; i < 2 * a.block().credits; ++i) send(a, message(request({})));
       },
       Look::holding},
      {"more credits than there are", [](Attacker& a) { a.vi().publish_counter(0, 5000); }},
      {"credits that go back",
       [](Attacker& a) {
         // Until the victim has seen it at 1, and then at 0.
         const std::uint64_t start = viaduct::monotonic_ns();
         for (std::uint64_t count = 1; !a.is_ended(); count = 1 - count) {
           if (viaduct::monotonic_ns() - start > 60'000'000'000) return;
           a.vi().publish_counter(0, count);
           a.wake_victim();
           for (int i = 0; i < 1000; ++i) a.drain();
         }
       }},
      {"more payloads taken than sent", [](Attacker& a) { a.vi().publish_counter(1, 1 << 20); }},
      {"more lines free than there are",
       [](Attacker& a) { a.victims_channel().receiver.posted.store(100'000); }},
      {"lines that are no longer free",
       [](Attacker& a) { a.victims_channel().receiver.posted.store(0); }},
      {"bytes in a line that is not full",
       [](Attacker& a) { a.line(0).header.store(0xdead'beef'0000'1230); }, Look::alone},
      {"bytes over all that is beside its messages", scribble_beside, Look::busy},
      {"a hole between messages",
       [](Attacker& a) { a.line(3).header.store(message(request({})) | header::phase_bit); }},
  };
}

thread_local std::uint32_t returned = 0;
thread_local std::uint32_t unreachable = 0;

/// Whether the connection ends in time, and the requests come back.
bool suffer(am::Bundle& bundle, am::Endpoint& endpoint, std::uint16_t number,
            const Attack& attack) {
  const am::Index peer{10U + number};
  returned = unreachable = 0;
  if (endpoint.map(peer, {viaduct::Rank{1}, number}, am::kTagAll) != Status::ok) return false;
  const std::byte first[64] = {};
  if (endpoint.request<on_short>(peer, std::uint64_t{7}) != Status::ok ||
      endpoint.request_medium<on_medium>(peer, std::span<const std::byte>(first)) != Status::ok)
    return false;
  const std::uint64_t start = viaduct::monotonic_ns();
  constexpr std::int64_t kLimitNs = 60'000'000'000;
  const auto is_lost = [&] {
    return endpoint.try_request<on_short>(peer, std::uint64_t{8}) == Status::peer_lost;
  };
  const auto in_time = [&] {
    return viaduct::monotonic_ns() - start < static_cast<std::uint64_t>(kLimitNs);
  };
  if (attack.look == Look::holding) {
    endpoint.set_wait_run(am::Bundle::Run::replies);
    while (!is_lost() && in_time()) (void)bundle.poll(am::Bundle::Run::replies);
    endpoint.set_wait_run(am::Bundle::Run::all);
  }
  std::vector<std::byte> data(300);
  const std::span<std::byte> all(data);
  while (attack.look == Look::busy && !is_lost() && in_time()) {
    (void)endpoint.try_request_bulk<on_bulk>(peer, all, 64);
    (void)endpoint.get<on_bulk>(peer, all, 64);
    (void)endpoint.try_request_medium<on_medium>(peer, std::span<const std::byte>(data));
    (void)bundle.poll();
  }
  if (attack.answers)
    while (!is_lost() && in_time()) (void)bundle.poll();
  else
    (void)bundle.wait_until([] { return unreachable != 0; }, kLimitNs);
  if (!is_lost()) {
    std::printf("nonsense: %s: the connection goes on (%" PRIu32 " requests are back)\n",
                attack.name, returned);
    return false;
  }
  (void)endpoint.unmap(peer);
  return true;
}

bool write_nonsense(am::Context& context, Attacker& attacker, std::uint16_t number,
                    const Attack& attack) {
  const std::uint64_t start = viaduct::monotonic_ns();
  const auto in_time = [&] { return viaduct::monotonic_ns() - start < 60'000'000'000; };
  if (!attacker.is_connected()) return false;
  while (attacker.vi().arrived_ahead(1) == nullptr && in_time()) context.nic().progress();
  // Sense first: a reply that is refused is no nonsense.
  if (number == 1 && !attacker.refused_overflow_is_returned()) {
    std::puts("nonsense: a refused overflow reply has left its block in use");
    return false;
  }
  if (number == 2 &&
      !attacker.wrong_arguments_are_returned(am::detail::handler_number<on_medium>())) {
    std::puts("nonsense: a request with other arguments than its handler's has not come back");
    return false;
  }
  attack.write(attacker);
  if (attack.look == Look::woken) attacker.wake_victim();
  while (!attacker.is_ended() && in_time()) {
  }
  if (!attacker.is_ended()) std::printf("nonsense: %s: nobody has told of it\n", attack.name);
  return attacker.is_ended();
}

/// What rank 0 has registered, as its peers see it: rank 0 must not believe it either.
bool scribble_regions(viaduct::Job& job) {
  constexpr std::size_t kSearched = 1 << 20;
  std::byte* const window = job.window_of(viaduct::Rank{0});
  for (std::size_t at = 0; at < kSearched; at += alignof(shm::NicPage)) {
    const auto& page = *reinterpret_cast<const shm::NicPage*>(window + at);
    if (page.magic != shm::NicPage::kMagic) continue;
    auto* const entries = reinterpret_cast<shm::RegionEntry*>(window + page.regions_offset);
    for (std::uint32_t i = 0; i < page.max_regions; ++i) {
      entries[i].tag = 0x5a5a;
      entries[i].handle.store(0x5a5a5a5a);
    }
    return true;
  }
  return false;
}

int body(viaduct::Job& job, int argc, char** argv) {
  const std::uint64_t rings = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 40;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (job.size() != 2) return 2;
  std::vector<Attack> all = attacks();
  for (std::uint64_t i = 0; i < rings; ++i)
    all.push_back({"a ring of random bytes", [](Attacker& a) { a.scribble(); }});
  Random random(seed);
  am::Context context(job);
  bool right = true;
  const auto meet = [&](const auto& meanwhile) {
    const std::uint32_t ticket = job.barrier_arrive();
    while (job.barrier_done(ticket) == Status::retry) meanwhile();
  };
  if (index(job.rank()) == 1) {
    std::uint16_t number = 0;
    for (const Attack& attack : all) {
      Attacker attacker(context, random, ++number);
      right = attacker.ask() && right;
      meet([&] { context.nic().progress(); });
      right = write_nonsense(context, attacker, number, attack) && right;
    }
    right = scribble_regions(job) && right;
    meet([&] { context.nic().progress(); });
    return right ? 0 : 1;
  }
  am::Bundle bundle(context);
  am::Endpoint endpoint(bundle);
  std::vector<std::byte> segment(4096);  // registered until the end
  endpoint.set_segment(segment);
  endpoint.set_undeliverable_handler([](const am::Returned& r) {
    ++returned;
    if (r.status == am::Undeliverable::unreachable) ++unreachable;
  });
  endpoint.set_translations(static_cast<std::uint32_t>(all.size()) + 20);
  std::uint16_t number = 0;
  for (const Attack& attack : all) {
    meet([&] { (void)bundle.poll(); });
    right = suffer(bundle, endpoint, ++number, attack) && right;
  }
  meet([&] { (void)bundle.poll(); });
  std::printf("nonsense: %s\n", right ? "all connections have ended" : "FAILED");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return viaduct::run(body, argc, argv); }
