#include "device-plugin/pool.h"

#include "device-plugin/test_devices.h"

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

Pool pool(const std::string& name, std::vector<Selector> selectors = {}) {
  Pool made;
  made.prefix = "example.com";
  made.name = name;
  made.selectors = std::move(selectors);
  return made;
}

Selector on_pf(const std::string& choice) {
  Selector selector;
  selector.pf_names = {parse_pf_choice(choice)};
  return selector;
}

Selector at(const std::string& function) {
  Selector selector;
  selector.pci_addresses = {address(function)};
  return selector;
}

std::vector<std::string> ids(const PoolContents& contents) {
  std::vector<std::string> found;
  for (const PoolDevice& pool_device : contents.devices) found.push_back(pool_device.id);
  return found;
}
using Ids = std::vector<std::string>;

TEST_CASE("a pool without selectors has every VF and no PF, in the order of addresses") {
  std::vector<Device> devices = test_node(2, 2);
  std::swap(devices.front(), devices.back());
  CHECK(ids(assign({pool("all")}, devices)[0]) ==
        Ids{"0000:3b:00.1", "0000:3b:00.2", "0000:5e:00.1", "0000:5e:00.2"});
}

TEST_CASE("the first pool that takes a device has it, and remembers by which selector") {
  const auto all_contents =
      assign({pool("some", {on_pf("ib0#1"), on_pf("ib1#0")}), pool("rest")}, test_node(2, 2));
  CHECK(ids(all_contents[0]) == Ids{"0000:3b:00.2", "0000:5e:00.1"});
  CHECK(all_contents[0].devices[0].selector == 0);
  CHECK(all_contents[0].devices[1].selector == 1);
  CHECK(ids(all_contents[1]) == Ids{"0000:3b:00.1", "0000:5e:00.2"});
}

TEST_CASE("a PF is offered where a selector names it and it has no VFs") {
  const std::vector<Pool> pools{pool("named", {on_pf("ib0"), at("0000:5e:00.0")}),
                                pool("whole", {at("0000:3b:00.0")})};
  const std::vector<Device> without{test_pf(0, 0), test_pf(1, 0)};
  const auto all_contents = assign(pools, without);
  CHECK(ids(all_contents[0]) == Ids{"0000:5e:00.0"});
  CHECK(all_contents[0].devices[0].selector == 1);
  CHECK(ids(all_contents[1]) == Ids{"0000:3b:00.0"});
  for (const PoolContents& contents : assign(pools, {test_pf(0, 1), test_pf(1, 2)}))
    CHECK(ids(contents).empty());
}

TEST_CASE("a device that the host needs is never offered, even if a pod holds it") {
  Device device = test_vf(0, 0);
  device.host_use = "carries the default route";
  const Allocated allocated{{device.address, "example.com/all"}};
  CHECK(ids(assign({pool("all"), pool("named", {at("0000:3b:00.1")})}, {device}, allocated)[0])
            .empty());
  CHECK(match(pool("all"), device).reason == "the host needs it: carries the default route");
}

TEST_CASE("a held device stays in its pool, whatever the selectors say, while there is that pool") {
  Selector partition;
  partition.pkeys = {ib::PKey(0x8001)};
  const std::vector<Pool> pools{pool("all"), pool("blue", {partition})};
  const Device device = test_vf(0, 0);
  CHECK(ids(assign(pools, {device}, {{device.address, "example.com/blue"}})[1]) ==
        Ids{"0000:3b:00.1"});
  CHECK(ids(assign(pools, {device}, {{device.address, "example.com/gone"}})[0]) ==
        Ids{"0000:3b:00.1"});
}

TEST_CASE(
    "tickets are so many of each HCA, whatever VFs it has and whatever the host does with it") {
  Pool slots = pool("ipoib", {on_pf("ib0"), on_pf("ib1")});
  slots.kind = PoolKind::ipoib_slot;
  slots.ipoib_slots = 2;
  std::vector<Device> devices = test_node(3, 1);
  devices[0].host_use = "has an address";
  CHECK(ids(assign({slots}, devices)[0]) ==
        Ids{"0000:3b:00.0-0", "0000:3b:00.0-1", "0000:5e:00.0-0", "0000:5e:00.0-1"});
  CHECK(match(slots, devices[1]).reason ==
        "deviceType: IPoIB children need a PF, and this is a VF");
  devices[0].link_type = "ether";
  devices[2].pf_name.clear();
  CHECK_FALSE(match(slots, devices[0]).matches);
  CHECK_FALSE(match(slots, devices[2]).matches);
}

TEST_CASE("nothing is ever in a pool that is another plugin's") {
  Pool foreign = pool("fpga");
  foreign.kind = PoolKind::foreign;
  CHECK(ids(assign({foreign}, test_node(1, 2))[0]).empty());
}

TEST_CASE("why not: every selector says its first reason") {
  CHECK(match(pool("p", {on_pf("ib1"), on_pf("ib0#3-5")}), test_vf(0, 1)).reason ==
        "selectors[0].pfNames: expected ib1, found ib0 VF 1; "
        "selectors[1].pfNames: expected ib0#3-5, found ib0 VF 1");
  CHECK(match(pool("p"), test_pf(0, 8)).reason == "it is a PF with 8 VFs");
  CHECK(match(pool("p"), test_pf(0, 0)).reason == "it is a PF, and no pciAddresses names it");
}

TEST_CASE("the environment's variable") {
  CHECK(variable_of("intel.com/sriov") == "PCIDEVICE_INTEL_COM_SRIOV");
  CHECK(variable_of("a-b.com/c_d-e") == "PCIDEVICE_A-B_COM_C_D-E");
  CHECK(variable_of("a.com/b.c") == "PCIDEVICE_A_COM_B_C");
}

}  // namespace
}  // namespace ibpod::device_plugin
