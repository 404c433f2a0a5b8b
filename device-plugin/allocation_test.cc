#include "device-plugin/allocation.h"

#include "device-plugin/test_devices.h"
#include "lib/node/vf.h"

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

Pool pool(const std::string& name) {
  Pool made;
  made.prefix = "example.com";
  made.name = name;
  made.cdi = false;
  return made;
}

// VFs 0 and 1 of PF 0 in "a", those of PF 1 in "b".
std::vector<PoolContents> pool_contents(const Pool& first = pool("a")) {
  Pool a = first;
  a.selectors.resize(1);
  a.selectors[0].rails = {0};
  return assign({a, pool("b")}, test_node(2, 2));
}

AllocateResponse allocation_for(const std::vector<PoolContents>& from,
                                const std::vector<std::string>& ids) {
  return allocate(from, "example.com/a", ids).value();
}

std::vector<std::string> paths(const AllocateResponse& answer) {
  std::vector<std::string> found;
  for (const DeviceNode& node : answer.device_nodes) {
    CHECK(node.path == node.host_path);
    CHECK(node.permissions == "rw");
    found.push_back(node.path);
  }
  return found;
}
using Paths = std::vector<std::string>;

TEST_CASE("the environment is sriov-network-device-plugin's, the nodes are of these devices only") {
  const AllocateResponse answer = allocation_for(pool_contents(), {"0000:3b:00.2"});
  CHECK(answer.envs.at("PCIDEVICE_EXAMPLE_COM_A") == "0000:3b:00.2");
  CHECK(answer.envs.at("PCIDEVICE_EXAMPLE_COM_A_INFO") ==
        R"({"0000:3b:00.2":{"generic":{"deviceID":"0000:3b:00.2"},"rdma":{)"
        R"("uverbs":"/dev/infiniband/uverbs1","rdma_cm":"/dev/infiniband/rdma_cm",)"
        R"("rdma_dev":"mlx5_3"}}})");
  CHECK(paths(answer) == Paths{"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs1"});
  CHECK(answer.mounts.empty());
  CHECK(answer.annotations.empty());
  CHECK(answer.cdi_devices.empty());
}

TEST_CASE("two devices share rdma_cm, and the order of the IDs does not matter") {
  const AllocateResponse answer = allocation_for(pool_contents(), {"0000:3b:00.2", "0000:3b:00.1"});
  CHECK(answer == allocation_for(pool_contents(), {"0000:3b:00.1", "0000:3b:00.2"}));
  CHECK(answer.envs.at("PCIDEVICE_EXAMPLE_COM_A") == "0000:3b:00.1,0000:3b:00.2");
  CHECK(paths(answer) ==
        Paths{"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"});
}

TEST_CASE("umad and issm are given where they are asked for") {
  Pool all = pool("a");
  all.device_nodes = {"uverbs", "umad", "issm"};
  CHECK(paths(allocation_for(pool_contents(all), {"0000:3b:00.1"})) ==
        Paths{"/dev/infiniband/issm0", "/dev/infiniband/umad0", "/dev/infiniband/uverbs0"});
}

TEST_CASE("isRdma false means no RDMA nodes") {
  std::vector<PoolContents> none = pool_contents();
  none[0].pool.selectors[0].rdma = false;
  const AllocateResponse answer = allocation_for(none, {"0000:3b:00.1"});
  CHECK(answer.device_nodes.empty());
  CHECK(answer.envs.at("PCIDEVICE_EXAMPLE_COM_A_INFO").find("rdma") == std::string::npos);
}

TEST_CASE("a device on vfio-pci has its group") {
  std::vector<PoolContents> vfio = pool_contents();
  Device& device = vfio[0].devices[0].device;
  device.driver = node::kVfio;
  CHECK(allocate(vfio, "example.com/a", {"0000:3b:00.1"}).error().text() ==
        "device 0000:3b:00.1 uses vfio-pci but has no IOMMU group");
  device.iommu_group = 97;
  const AllocateResponse answer = allocation_for(vfio, {"0000:3b:00.1"});
  CHECK(paths(answer) == Paths{"/dev/vfio/97", "/dev/vfio/vfio"});
  CHECK(answer.envs.at("PCIDEVICE_EXAMPLE_COM_A_INFO")
            .find(R"("vfio":{"mount":"/dev/vfio/vfio","dev-mount":"/dev/vfio/97"})") !=
        std::string::npos);
}

TEST_CASE("with CDI the nodes are left to the CDI files") {
  Pool cdi = pool("a");
  cdi.cdi = true;
  const AllocateResponse answer = allocation_for(pool_contents(cdi), {"0000:3b:00.1"});
  CHECK(answer.device_nodes.empty());
  CHECK(answer.cdi_devices == std::vector<std::string>{"example.com/ib=0000:3b:00.1"});
}

TEST_CASE("additionalInfo: a device's own goes before everybody's") {
  Pool informed = pool("a");
  informed.additional_info = {{"*", {{"token", "all"}, {"more", "x"}}},
                              {"0000:3b:00.1", {{"token", "one"}}}};
  const auto extra = [&](const std::string& id) {
    const std::string text =
        allocation_for(pool_contents(informed), {id}).envs.at("PCIDEVICE_EXAMPLE_COM_A_INFO");
    return text.substr(text.find("\"extra\""));
  };
  CHECK(extra("0000:3b:00.1") == R"("extra":{"more":"x","token":"one"}}})");
  CHECK(extra("0000:3b:00.2") == R"("extra":{"more":"x","token":"all"}}})");
}

TEST_CASE("a ticket names its HCA and gives no node") {
  Pool slots = pool("a");
  slots.kind = PoolKind::ipoib_slot;
  slots.ipoib_slots = 2;
  const AllocateResponse answer = allocation_for(pool_contents(slots), {"0000:3b:00.0-1"});
  CHECK(answer.device_nodes.empty());
  CHECK(answer.cdi_devices.empty());
  CHECK(answer.envs.at("PCIDEVICE_EXAMPLE_COM_A_INFO") ==
        R"({"0000:3b:00.0-1":{"generic":{"deviceID":"0000:3b:00.0-1"},)"
        R"("ipoib":{"master":"ib0","pf":"0000:3b:00.0"}}})");
}

TEST_CASE("what cannot be given is refused, with a reason") {
  std::vector<PoolContents> some = pool_contents();
  some[0].devices[0].unhealthy = "port 1 is DOWN";
  some[0].devices[1].device.driver.reset();
  struct Refusal {
    std::string resource;
    std::vector<std::string> ids;
    Code code;
    const char* text;
  };
  for (const Refusal& one :
       {Refusal{"example.com/c", {"0000:3b:00.1"}, Code::not_found, "no such pool: example.com/c"},
        {"example.com/a",
         {"0000:3b:00.7"},
         Code::not_found,
         "device 0000:3b:00.7 is not offered by example.com/a"},
        {"example.com/a",
         {"0000:5e:00.1"},
         Code::not_found,
         "device 0000:5e:00.1 belongs to example.com/b, not to example.com/a"},
        {"example.com/a",
         {"0000:3b:00.1"},
         Code::unavailable,
         "device 0000:3b:00.1 is unhealthy: port 1 is DOWN"},
        {"example.com/a", {"0000:3b:00.2"}, Code::unavailable, "device 0000:3b:00.2 has no driver"},
        {"example.com/b", {}, Code::invalid, "expected one or more distinct IDs, got \"\""},
        {"example.com/b",
         {"0000:5e:00.1", "0000:5e:00.1"},
         Code::invalid,
         "expected one or more distinct IDs, got \"0000:5e:00.1,0000:5e:00.1\""}}) {
    CAPTURE(one.text);
    const auto answer = allocate(some, one.resource, one.ids);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == one.code);
    CHECK(answer.error().text() == one.text);
  }
}

}  // namespace
}  // namespace ibpod::device_plugin
