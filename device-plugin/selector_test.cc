#include "device-plugin/selector.h"

#include "device-plugin/test_devices.h"

#include <functional>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

using Change = std::function<void(Selector&)>;

std::optional<Mismatch> against(const Change& change, const Device& device = test_vf(0, 3)) {
  Selector selector;
  change(selector);
  return mismatch(selector, device);
}

TEST_CASE("an empty selector matches everything") {
  CHECK_FALSE(against([](Selector&) {}));
}

struct Case {
  Change in;
  Change out;
  Mismatch said;
};

void check_fields(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.said.field);
    CHECK_FALSE(against(one.in));
    CHECK(against(one.out) == one.said);
  }
}

TEST_CASE("each field lets in what it names and tells what it keeps out") {
  check_fields({{[](Selector& s) {
                   s.vendors = {"8086", "15b3"};
                 },
                 [](Selector& s) { s.vendors = {"8086"}; },
                 {"vendors", "8086", "15b3"}},
                {[](Selector& s) { s.devices = {"101c"}; },
                 [](Selector& s) {
                   s.devices = {"1018", "101e"};
                 },
                 {"devices", "1018, 101e", "101c"}},
                {[](Selector& s) { s.drivers = {"mlx5_core"}; },
                 [](Selector& s) { s.drivers = {"vfio-pci"}; },
                 {"drivers", "vfio-pci", "mlx5_core"}},
                {[](Selector& s) { s.pci_addresses = {address("0000:3b:00.4")}; },
                 [](Selector& s) { s.pci_addresses = {address("0000:3b:00.5")}; },
                 {"pciAddresses", "0000:3b:00.5", "0000:3b:00.4"}},
                {[](Selector&) {},
                 [](Selector& s) { s.acpi_indexes = {101}; },
                 {"acpiIndexes", "101", "none"}},
                {[](Selector& s) { s.pf_names = {parse_pf_choice("IB0#2-3")}; },
                 [](Selector& s) {
                   s.pf_names = {parse_pf_choice("ib0#0-2"), parse_pf_choice("ib1")};
                 },
                 {"pfNames", "ib0#0-2, ib1", "ib0 VF 3"}},
                {[](Selector& s) { s.root_devices = {parse_pf_choice("0000:3b:00.0")}; },
                 [](Selector& s) { s.root_devices = {parse_pf_choice("0000:3b:00.0#x")}; },
                 {"rootDevices", "0000:3b:00.0#x", "0000:3b:00.0 VF 3"}}});
}

TEST_CASE("so does each field about the link") {
  check_fields({{[](Selector& s) { s.link_types = {"infiniband"}; },
                 [](Selector& s) { s.link_types = {"ether"}; },
                 {"linkTypes", "ether", "infiniband"}},
                {[](Selector& s) { s.pkeys = {ib::kDefaultFull}; },
                 [](Selector& s) { s.pkeys = {ib::PKey(0x8001)}; },
                 {"pKeys", "0x8001", "0:0xffff"}},
                {[](Selector& s) { s.link_states = {ib::PortState::active}; },
                 [](Selector& s) {
                   s.link_states = {ib::PortState::init, ib::PortState::down};
                 },
                 {"linkStates", "INIT, DOWN", "ACTIVE"}},
                {[](Selector& s) { s.guid_valid = true; },
                 [](Selector& s) { s.guid_valid = false; },
                 {"guidValid", "false", "true"}},
                {[](Selector& s) { s.rails = {0}; },
                 [](Selector& s) {
                   s.rails = {1, 2};
                 },
                 {"rails", "1, 2", "0"}},
                {[](Selector& s) { s.rdma = true; },
                 [](Selector& s) { s.unsatisfiable_key = "ddpProfiles"; },
                 {"ddpProfiles", "something that no InfiniBand device has", "nothing"}}});
}

TEST_CASE("P_Keys are numbers, at every index of every port") {
  Device device = test_vf(0, 0);
  device.rdma.push_back(device.rdma[0]);
  device.rdma[0].ports.push_back(device.rdma[0].ports[0]);
  device.rdma[0].ports[1].pkeys = {ib::PKey(0x7fff), ib::PKey(0), ib::PKey(0x0005)};
  device.rdma[1].ports[0].pkeys = {ib::PKey(0x7fff), ib::PKey(0x8006)};
  struct Wanted {
    uint16_t wanted;
    bool there;
  };
  for (const Wanted& one : {Wanted{0x0005, true},
                            {0x8005, false},
                            {0x0006, true},
                            {0x8006, true},
                            {0xffff, true},
                            {0x0007, false},
                            {0x0000, false},
                            {0x8000, false}}) {
    CAPTURE(one.wanted);
    const auto kept_out = against([&](Selector& s) { s.pkeys = {ib::PKey(one.wanted)}; }, device);
    CHECK(kept_out.has_value() != one.there);
  }
}

TEST_CASE("a GUID of zero or all ones is none") {
  for (const uint64_t none : {uint64_t{0}, UINT64_MAX}) {
    Device device = test_vf(0, 0);
    device.rdma[0].ports[0].guid = ib::Guid(none);
    const auto found = against([](Selector& s) { s.guid_valid = true; }, device);
    CHECK(found == Mismatch{"guidValid", "true", "false"});
    CHECK_FALSE(against([](Selector& s) { s.guid_valid = false; }, device));
  }
  Device odd = test_vf(0, 0);
  odd.rdma[0].ports[0].guid = ib::Guid(0x59cabb009792745f);
  CHECK_FALSE(against([](Selector& s) { s.guid_valid = true; }, odd));
}

TEST_CASE("isRdma asks for an RDMA device, and isRdma false for nothing") {
  Device device = test_vf(0, 0);
  device.rdma.clear();
  CHECK(against([](Selector& s) { s.rdma = true; }, device) == Mismatch{"isRdma", "true", "false"});
  CHECK_FALSE(against([](Selector& s) { s.rdma = false; }, device));
  CHECK_FALSE(against([](Selector& s) { s.rdma = false; }));
}

TEST_CASE(
    "a device in a pod, whose RDMA device cannot be seen, is not asked for what only that tells") {
  Device device = test_vf(0, 0);
  device.rdma.clear();
  device.link_type.clear();
  const Change all = [](Selector& s) {
    s.rdma = true;
    s.pkeys = {ib::PKey(0x8001)};
    s.link_states = {ib::PortState::active};
    s.guid_valid = true;
    s.link_types = {"infiniband"};
  };
  CHECK(against(all, device)->field == "linkTypes");
  device.attachment = "pod default/a, net1";
  CHECK_FALSE(against(all, device));
  CHECK(against([](Selector& s) { s.drivers = {"vfio-pci"}; }, device)->field == "drivers");
}

TEST_CASE("a PF is its own root, without a number") {
  const Device pf = test_pf(0, 0);
  CHECK_FALSE(against([](Selector& s) { s.pf_names = {parse_pf_choice("ib0")}; }, pf));
  CHECK(against([](Selector& s) { s.pf_names = {parse_pf_choice("ib0#0-7")}; }, pf) ==
        Mismatch{"pfNames", "ib0#0-7", "ib0"});
}

}  // namespace
}  // namespace ibpod::device_plugin
