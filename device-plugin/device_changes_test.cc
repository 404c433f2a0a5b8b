#include "device-plugin/inventory.h"

#include <algorithm>
#include <functional>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

using Lines = std::vector<std::string>;

ib::PciAddress address(const char* text) { return ib::PciAddress::parse(text).value(); }

Device pf() {
  Device pf;
  pf.address = address("0000:3b:00.0");
  pf.driver = "mlx5_core";
  pf.vfs = 2;
  return pf;
}

Device vf(const char* function, uint32_t number) {
  Device vf;
  vf.address = address(function);
  vf.pf = address("0000:3b:00.0");
  vf.vf = number;
  vf.driver = "mlx5_core";
  ib::Port port{ib::PortState::active, 1, ib::Guid(0x22), {ib::PKey(0x7fff)}};
  vf.rdma = {{.name = "mlx5_2", .node_guid = ib::Guid(0x21), .ports = {port}}};
  return vf;
}

const std::vector<Device> kNode{pf(), vf("0000:3b:00.1", 0), vf("0000:3b:00.2", 1)};

TEST_CASE("nothing has changed: nothing is said") {
  CHECK(describe_changes(kNode, kNode).empty());
  CHECK(describe_changes({}, {}).empty());
}

TEST_CASE("each fact that changes is a line of its own, there and back") {
  const struct {
    std::function<void(Device&)> change;
    const char* there;
    const char* back;
  } cases[] = {
      {[](Device& d) { d.rdma[0].ports[0].state = ib::PortState::down; },
       "port 1 of mlx5_2: ACTIVE -> DOWN", "port 1 of mlx5_2: DOWN -> ACTIVE"},
      {[](Device& d) { d.driver.reset(); }, "driver: mlx5_core -> none",
       "driver: none -> mlx5_core"},
      {[](Device& d) { d.rdma[0].ports[0].guid = ib::Guid(); },
       "port 1 of mlx5_2: GUID: 00:00:00:00:00:00:00:22 -> none",
       "port 1 of mlx5_2: GUID: none -> 00:00:00:00:00:00:00:22"},
      {[](Device& d) { d.rdma[0].ports[0].pkeys.push_back(ib::PKey(0x8001)); },
       "port 1 of mlx5_2: P_Keys: 0:0x7fff -> 0:0x7fff 1:0x8001",
       "port 1 of mlx5_2: P_Keys: 0:0x7fff 1:0x8001 -> 0:0x7fff"},
      {[](Device& d) { d.quarantine = "GC"; }, "quarantine: none -> GC", "quarantine: GC -> none"},
      {[](Device& d) {
         d.char_devices = {"umad2", "uverbs2"};
       },
       "character devices: none -> umad2 uverbs2", "character devices: umad2 uverbs2 -> none"},
      {[](Device& d) { d.host_use = "ib2 has the address 10.0.0.1/24"; },
       "needed by the host: none -> ib2 has the address 10.0.0.1/24",
       "needed by the host: ib2 has the address 10.0.0.1/24 -> none"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.there);
    std::vector<Device> after = kNode;
    one.change(after[2]);
    CHECK(describe_changes(kNode, after) == Lines{std::string("0000:3b:00.2: ") + one.there});
    CHECK(describe_changes(after, kNode) == Lines{std::string("0000:3b:00.2: ") + one.back});
  }
}

TEST_CASE("a PF tells of its link and its VFs") {
  std::vector<Device> after = kNode;
  after[0].pf_up = false;
  after[0].vfs = 3;
  after[1].pf_up = after[2].pf_up = false;  // the PF says it
  CHECK(describe_changes(kNode, after) ==
        Lines{"0000:3b:00.0: VFs: 2 -> 3", "0000:3b:00.0: link: up -> down"});
}

TEST_CASE("functions that come and go are told, wherever they stand") {
  for (size_t missing = 0; missing < kNode.size(); ++missing) {
    CAPTURE(missing);
    std::vector<Device> fewer = kNode;
    const std::string function = kNode[missing].address.text();
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(missing));
    CHECK(describe_changes(kNode, fewer) == Lines{function + " is gone"});
    REQUIRE(describe_changes(fewer, kNode).size() == 1);
    CHECK(describe_changes(fewer, kNode)[0].starts_with(function + " has appeared: "));
  }
  CHECK(describe_changes({}, kNode) == Lines{"0000:3b:00.0 has appeared: a PF with 2 VFs",
                                             "0000:3b:00.1 has appeared: VF 0 of 0000:3b:00.0",
                                             "0000:3b:00.2 has appeared: VF 1 of 0000:3b:00.0"});
}

TEST_CASE("an RDMA device that is renamed is one that goes and one that comes") {
  std::vector<Device> after = kNode;
  after[1].rdma[0].name = "mlx5_9";
  const Lines lines = describe_changes(kNode, after);
  CHECK(std::find(lines.begin(), lines.end(), "0000:3b:00.1: mlx5_2: there -> none") !=
        lines.end());
  CHECK(std::find(lines.begin(), lines.end(), "0000:3b:00.1: mlx5_9: none -> there") !=
        lines.end());
}

}  // namespace
}  // namespace ibpod::device_plugin
