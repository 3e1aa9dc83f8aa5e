#include "tests/conformance/cases.hpp"
#include "tests/conformance/link.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::conformance {
namespace {

void limits(Rig& rig) {
  const via::NicAttributes& a = rig.limits();
  CHECK(!a.name.empty());
  CHECK(a.max_transfer_bytes >= 32 * 1024);
  CHECK(a.max_segments >= 1);
  CHECK(a.max_segments <= via::kMaxSegments);
  CHECK(a.max_queue_depth >= 64);
  CHECK(a.max_regions >= 16);
  CHECK(a.max_completion_queue >= 2 * 64);
  CHECK(a.immediate_bits == 32 || a.immediate_bits == 64);
}

void services(Rig& rig) {
  CHECK(!offered_levels(rig).empty());
  for (const via::Reliability level :
       {via::Reliability::unreliable, via::Reliability::delivery, via::Reliability::reception}) {
    Note note("{}", name_of(level));
    bool offered = false;
    for (const via::Reliability other : offered_levels(rig)) offered = offered || other == level;
    const auto queue = rig.nic().create_completion_queue(8);
    via::ViAttributes attributes = vi_attributes(4, level);
    attributes.tag = rig.tag();
    attributes.send_queue = attributes.receive_queue = queue.get();
    if (offered) {
      CHECK_EQ(rig.nic().create_vi(attributes)->attributes().reliability, level);
    } else {
      CHECK_THROWS(rig.nic().create_vi(attributes));
    }
  }
}

void unknown_provider(Rig& rig) { CHECK_THROWS(via::open_nic(rig.job(), "no-such-provider")); }

void vi_attributes_kept(Rig& rig) {
  int owner = 0;
  via::ViAttributes attributes = vi_attributes(8);
  attributes.receive_depth = 3;
  attributes.context = &owner;
  Link link(rig, attributes);
  CHECK_EQ(link.vi().attributes().context, static_cast<void*>(&owner));
  CHECK_EQ(link.vi().attributes().send_depth, 8);
  CHECK_EQ(link.vi().attributes().receive_depth, 3);
  CHECK_EQ(link.vi().attributes().tag, rig.tag());
  CHECK_EQ(link.vi().attributes().send_queue, &link.queue());
  CHECK_EQ(link.vi().state(), via::ViState::idle);
}

void vi_limits(Rig& rig) {
  const auto queue = rig.nic().create_completion_queue(rig.limits().max_completion_queue);
  const auto attempt = [&](std::uint32_t send, std::uint32_t receive, via::ProtectionTag tag) {
    via::ViAttributes attributes;
    attributes.tag = tag;
    attributes.send_depth = send;
    attributes.receive_depth = receive;
    attributes.send_queue = attributes.receive_queue = queue.get();
    return rig.nic().create_vi(attributes);
  };
  const std::uint32_t most = rig.limits().max_queue_depth;
  CHECK_THROWS(attempt(0, 4, rig.tag()));
  CHECK_THROWS(attempt(4, 0, rig.tag()));
  CHECK_THROWS(attempt(most + 1, 4, rig.tag()));
  CHECK_THROWS(attempt(4, most + 1, rig.tag()));
  CHECK_THROWS(attempt(4, 4, via::ProtectionTag::none));
  CHECK_THROWS(attempt(4, 4, static_cast<via::ProtectionTag>(0x7ffffff1)));
  CHECK(attempt(1, 1, rig.tag()) != nullptr);
}

constexpr Case kCases[] = {
    {"attributes.limits",
     "The NIC's limits are those of VIPL or better: transfers of at least 32 KiB, at most 16 "
     "segments",
     Party::alone, limits},
    {"attributes.services", "VIs of the service levels offered can be made, of others not",
     Party::alone, services},
    {"attributes.unknown_provider", "Opening a provider that does not exist throws", Party::alone,
     unknown_provider},
    {"attributes.vi", "A new VI is idle and keeps the attributes that it was made with",
     Party::alone, vi_attributes_kept},
    {"attributes.vi_limits", "A VI with depth 0, too deep, or with a bad tag is refused",
     Party::alone, vi_limits},
};

}  // namespace

std::span<const Case> attribute_cases() { return kCases; }

}  // namespace viaduct::conformance
