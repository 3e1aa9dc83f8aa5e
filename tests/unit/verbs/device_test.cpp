/// Which device, port and address a rank takes, and the way from there to a peer.

#include "via/verbs/src/device.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/verbs/fake_device.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::via::verbs {
namespace {

using Devices = std::vector<FakeDevice>;

FakePort ethernet(std::vector<FakeGid> gids = {{"::ffff:10.0.0.1"}}) {
  FakePort port;
  port.gids = std::move(gids);
  return port;
}
FakePort infiniband(std::uint16_t lid, const char* gid = "fe80::2:c903:0:1") {
  FakePort port;
  port.ethernet = false;
  port.lid = lid;
  port.mtu = IBV_MTU_4096;
  port.gids = {{gid, IBV_GID_TYPE_IB}};
  return port;
}
FakePort down(FakePort port) {
  port.active = false;
  return port;
}
FakePort with_speed(FakePort port, std::uint8_t speed, std::uint8_t width) {
  port.speed = speed;
  port.width = width;
  return port;
}

/// "NAME:PORT:GID-INDEX" that is taken for @p wanted, or why none is.
std::string taken(const std::string& wanted = "auto", std::uint32_t turn = 0) {
  const Found found = find_ports(wanted, turn);
  if (!found.problem.empty()) return found.problem;
  const PortInfo& port = found.ports.at(static_cast<std::size_t>(found.chosen));
  const std::string shown =
      port.device + ":" + std::to_string(port.port) + ":" + std::to_string(port.gid_index);
  const Device device(Settings{}, wanted, turn);
  EXPECT_EQ(device.name(), port.device) << "what is shown is what is taken";
  EXPECT_EQ(device.port(), port.port);
  return shown;
}

/// What the library says when it opens a device.
std::string refusal(const std::string& wanted, const Settings& settings = {}) {
  try {
    const Device device(settings, wanted, 0);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

std::uint32_t gid_index_to(const Device& device) {
  Address peer;
  peer.ethernet = 1;
  return device.route_to(peer).grh.sgid_index;
}

TEST(VerbsDevice, NoneIsSaidWithTheRemedy) {
  const FakeLibrary fake({});
  EXPECT_NE(taken().find("rdma link add"), std::string::npos);
  EXPECT_NE(refusal("auto").find("rdma link add"), std::string::npos);
}

TEST(VerbsDevice, TheFastestPortThatIsUp) {
  const FakeLibrary fake(
      Devices{{"a", {with_speed(ethernet(), 32, 2)}},  // 100 Gb/s
              {"b", {down(with_speed(ethernet(), 128, 2)), ethernet({})}},
              {"c", {with_speed(ethernet(), 64, 1), with_speed(ethernet(), 64, 2)}},
              {"d", {with_speed(ethernet(), 64, 2)}}});
  EXPECT_EQ(taken(), "c:2:0") << "200 Gb/s; the first of equals";
  EXPECT_EQ(find_ports("auto").ports.size(), 6U);
  EXPECT_EQ(FakeLibrary::opened(), 0);
}

TEST(VerbsDevice, NoneIsUp) {
  const FakeLibrary fake(Devices{{"a", {down(ethernet())}}});
  EXPECT_NE(taken().find("a:1 (down)"), std::string::npos) << taken();
  EXPECT_NE(refusal("auto").find("a:1 (down)"), std::string::npos);
}

TEST(VerbsDevice, AddressesOfRoce) {
  const FakeGid none{"::"};
  const FakeGid local{"fe80::1"};
  const FakeGid local1{"fe80::1", IBV_GID_TYPE_ROCE_V1};
  const FakeGid routed{"2001:db8::1"};
  const FakeGid ip4{"::ffff:10.0.0.1"};
  const FakeGid ip4_1{"::ffff:10.0.0.1", IBV_GID_TYPE_ROCE_V1};
  const auto best = [](std::vector<FakeGid> gids) {
    const FakeLibrary fake(Devices{{"a", {ethernet(std::move(gids))}}});
    return taken();
  };
  EXPECT_EQ(best({local1, local, routed, ip4_1, ip4}), "a:1:4");
  EXPECT_EQ(best({ip4, routed, local}), "a:1:0");
  EXPECT_EQ(best({local1, local, ip4_1, routed}), "a:1:3");
  EXPECT_EQ(best({ip4_1, local}), "a:1:1") << "version 2 first";
  EXPECT_EQ(best({local1, ip4_1}), "a:1:1");
  EXPECT_EQ(best({none, none, local1}), "a:1:2");
  EXPECT_NE(best({none}).find("no port of an RDMA device is up and has an address"),
            std::string::npos);
}

TEST(VerbsDevice, TheFirstAddressOfInfiniBand) {
  FakePort port = infiniband(5);
  port.gids.push_back({"2001:db8::1", IBV_GID_TYPE_IB});
  const FakeLibrary fake(Devices{{"a", {port}}});
  EXPECT_EQ(taken(), "a:1:0");
  const Found found = find_ports("auto");
  EXPECT_EQ(found.ports[0].gid_type, "InfiniBand");
  EXPECT_EQ(found.ports[0].mtu_bytes, 4096U);
  EXPECT_FALSE(found.ports[0].ethernet);
}

TEST(VerbsDevice, AWrongNameIsSaidToComeFromWhereItStands) {
  const FakeLibrary fake(Devices{{"a", {ethernet()}}});
  for (const char* const list : {"b", "a:1:9", ",", "a,", ",a", "a,,a", ":1", "a,a:x"}) {
    Settings settings;
    settings.device = list;
    for (const std::string of_provider : {"", list}) {
      const std::string source =
          (of_provider.empty() ? "VIADUCT_VERBS_DEVICE=" : "provider verbs:") + std::string(list);
      const std::string text = refusal(of_provider, settings);
      EXPECT_NE(text.find(source), std::string::npos) << text;
      const bool misspelled = list != std::string("b") && list != std::string("a:1:9");
      EXPECT_EQ(text.find(": a device is NAME, NAME:PORT or") != std::string::npos, misspelled)
          << text;
    }
  }
}

TEST(VerbsDevice, WhatIsAskedForIsTaken) {
  const FakeLibrary fake(Devices{{"a", {ethernet({{"fe80::1"}, {"::ffff:10.0.0.1"}}), ethernet()}},
                                 {"b", {down(ethernet()), ethernet()}}});
  EXPECT_EQ(taken("b"), "b:2:0") << "its first port that is up";
  EXPECT_EQ(taken("a"), "a:1:1");
  EXPECT_EQ(taken("a:2"), "a:2:0");
  EXPECT_EQ(gid_index_to(Device(Settings{}, "a:1", 0)), 1U);
  EXPECT_EQ(gid_index_to(Device(Settings{}, "a:1:0", 0)), 0U);
  for (const std::uint32_t turn : {0U, 1U, 2U, 3U, 4U, 5U})
    EXPECT_EQ(taken("b,a:2,a:1", turn), (std::vector{"b:2:0", "a:2:0", "a:1:1"})[turn % 3]);
}

TEST(VerbsDevice, WhatCannotBeIsSaid) {
  const FakeLibrary fake(Devices{{"a", {ethernet()}}, {"b", {ethernet()}}});
  EXPECT_NE(taken("c").find("there is no RDMA device 'c'"), std::string::npos);
  EXPECT_NE(taken("a:2").find("there are: a:1, b:1"), std::string::npos);
  EXPECT_NE(refusal("c").find("there is no RDMA device 'c'"), std::string::npos);
  EXPECT_NE(refusal("a:1:3").find("has no address of index 3"), std::string::npos);
  EXPECT_EQ(FakeLibrary::opened(), 0) << "what was opened is closed";
  for (const char* wrong : {"a:", "a:x", "a:1:", "a:1:y", "a:-1", "a:1x", "a:1:-1", "a:99999999999",
                            "a:1:0:0", "a:1:0:9", "a:1:0:", "a:1:0:x"}) {
    EXPECT_NE(taken(wrong).find("NAME:PORT:GID-INDEX"), std::string::npos) << wrong;
    EXPECT_NE(refusal(wrong).find("NAME:PORT:GID-INDEX"), std::string::npos) << wrong;
  }
}

TEST(VerbsDevice, TheWayWithinASubnetIsTheLid) {
  const FakeLibrary fake(Devices{{"a", {infiniband(5)}}});
  Settings settings;
  settings.service_level = 3;
  const Device device(settings, "auto", 0);
  Address own;
  device.fill(own);
  EXPECT_EQ(own.lid, 5);
  EXPECT_EQ(own.ethernet, 0);
  Address peer = own;
  peer.lid = 9;
  EXPECT_EQ(device.route_to(peer).dlid, 9);
  EXPECT_EQ(device.route_to(peer).sl, 3);
  EXPECT_EQ(device.route_to(peer).port_num, 1);
  EXPECT_EQ(device.route_to(peer).is_global, 0);
  peer.gid[7] = 1;  // another subnet's prefix
  EXPECT_EQ(device.route_to(peer).is_global, 1);
  EXPECT_EQ(std::memcmp(device.route_to(peer).grh.dgid.raw, peer.gid, sizeof peer.gid), 0);
}

TEST(VerbsDevice, RoceHasAGlobalHeader) {
  const FakeLibrary fake(Devices{{"a", {ethernet({{"fe80::1"}, {"::ffff:10.0.0.1"}})}}});
  Settings settings;
  settings.traffic_class = 106;
  const Device device(settings, "auto", 0);
  Address peer;
  device.fill(peer);
  EXPECT_EQ(peer.ethernet, 1);
  peer.gid[15] = 2;
  const ibv_ah_attr way = device.route_to(peer);
  EXPECT_EQ(way.is_global, 1);
  EXPECT_EQ(way.grh.sgid_index, 1);
  EXPECT_EQ(way.grh.traffic_class, 106);
  EXPECT_GT(way.grh.hop_limit, 1);
}

TEST(VerbsDevice, BulkRequestsOfSoftRoceAreShort) {
  const FakeLibrary fake(Devices{{"rxe0", {ethernet()}, 0xffffff}, {"mlx5_0", {ethernet()}}});
  EXPECT_EQ(Device(Settings{}, "rxe0", 0).most_request_bytes(), 8 * 1024U);
  EXPECT_EQ(Device(Settings{}, "mlx5_0", 0).most_request_bytes(), std::size_t{1} << 31);
}

}  // namespace
}  // namespace viaduct::via::verbs
