#include "agent/kubelet/pool_resource.h"

#include "agent/kubelet/test_files.h"
#include "lib/sysfs/pci.h"
#include "tests/support/fake_sysfs.h"

#include <doctest/doctest.h>

namespace ibpod::agent::kubelet {
namespace {

using device_plugin::Device;
using Names = std::vector<std::string>;

// A PF with two VFs, dealt to one pool; what each was told of its allocations.
struct Node {
  explicit Node(const device_plugin::Pool& with) : pool(with) {
    refresh({device(vf0), device(vf1)});
  }

  Device device(const ib::PciAddress& address, const std::string& attachment = "") const {
    Device read;
    read.address = address;
    read.pf = pf;
    read.driver = "mlx5_core";
    read.numa = 0;
    read.char_devices = sysfs::char_devices(sysfs, address).value();
    read.attachment = attachment;
    return read;
  }
  void refresh(const std::vector<Device>& devices) { snapshot.set(test_snapshot(pool, devices)); }
  // As a move into a pod does it.
  void renumber(const ib::PciAddress& function) {
    tree.unbind(function);
    tree.bind(function);
  }

  device_plugin::Pool pool;
  fake::FakeSysfs tree;
  ib::PciAddress pf = tree.add_pf(), vf0 = tree.add_vf(pf), vf1 = tree.add_vf(pf);
  sysfs::Sysfs sysfs = tree.open();
  std::string id0 = vf0.text(), id1 = vf1.text();
  Latest<snapshot::Snapshot> snapshot;
  TestFiles made;
  PoolResourceDeps deps{sysfs, made.files};
  std::vector<bool> last_event;
  PoolResource resource{
      kResource, snapshot, deps,
      [this](const PoolResource::AllocationEvent& one) { last_event.push_back(one.granted); }};
};

TEST_CASE("offering: a pool's devices, with their health and NUMA node") {
  Node node(test_pool());
  snapshot::Snapshot snapshot = *node.snapshot.get();
  snapshot.pool_contents[0].devices[1].unhealthy = "no link";
  node.snapshot.set(snapshot);
  using kube::Device;
  CHECK(node.resource.devices() == std::vector<Device>{{node.id0, true, 0}, {node.id1, false, 0}});
  snapshot.pool_contents[0].pool.exclude_topology = true;
  node.snapshot.set(snapshot);
  CHECK(node.resource.devices().front() == Device{node.id0, true, std::nullopt});
  node.snapshot.set(snapshot::Snapshot());
  CHECK(node.resource.devices().empty());
  CHECK(node.resource.prefer({node.id0}, {}, 1).error().code() == Code::not_found);
}

TEST_CASE("offering: preferred devices are those of the pool") {
  Node node(test_pool());
  CHECK(node.resource.prefer({node.id0, node.id1}, {node.id1}, 1).value() ==
        kube::DeviceIds{node.id1});
}

TEST_CASE("offering: an allocation answers by CDI and leaves a device-info file, and is told") {
  Node node(test_pool());
  const kube::Allocation given = node.resource.allocate({node.id0}).value();
  CHECK(given.cdi_devices == Names{"example.com/ib=" + node.id0});
  CHECK(given.devices.empty());
  CHECK(given.envs.at("PCIDEVICE_EXAMPLE_COM_VFS") == node.id0);
  CHECK(node.made.infos() == Names{node.made.info(node.id0).filename()});
  CHECK(node.resource.allocate({"0000:ff:00.1"}).error().code() == Code::not_found);
  CHECK(node.last_event == std::vector<bool>{true, false});
}

TEST_CASE("offering: the file of a device just allocated stays while no list names its pod yet") {
  Node node(test_pool());
  REQUIRE(node.resource.allocate({node.id0}));
  REQUIRE(node.made.files.tidy(*node.snapshot.get(), {{"default", "other", {"0000:ff:00.0"}}}));
  CHECK(node.made.infos() == Names{node.made.info(node.id0).filename()});
}

TEST_CASE(
    "offering: with CDI a container starts with the nodes of this moment, whatever a look saw") {
  Node node(test_pool());
  const snapshot::Snapshot before = *node.snapshot.get();
  REQUIRE(node.made.files.refresh(before));
  REQUIRE(node.resource.allocate({node.id0}));
  const std::string old = device_plugin::char_devices_of(before.devices[0], "uverbs").at(0);
  node.renumber(node.vf0);
  const std::string now = device_plugin::char_devices_of(node.device(node.vf0), "uverbs").at(0);
  REQUIRE(old != now);
  REQUIRE(node.resource.pre_start({node.id0}));
  CHECK(node.made.gives(node.id0, now));
  REQUIRE(node.made.files.refresh(before));
  CHECK(node.made.gives(node.id0, now));
  CHECK_FALSE(node.made.gives(node.id0, old));
}

TEST_CASE(
    "offering: without CDI a container starts with the nodes that it was granted, or not at all") {
  Node node(test_pool(false));
  const kube::Allocation given = node.resource.allocate({node.id0}).value();
  CHECK(given.cdi_devices.empty());
  CHECK(given.devices.size() == 2);
  CHECK(node.resource.pre_start({node.id0}));
  CHECK(node.resource.pre_start({node.id1}).error().code() == Code::unavailable);
  node.renumber(node.vf0);
  CHECK(node.resource.pre_start({node.id0}).error().code() == Code::unavailable);
  REQUIRE(remove_file(node.made.info(node.id0)));
  CHECK(node.resource.pre_start({node.id0}).error().code() == Code::unavailable);
}

TEST_CASE("offering: no container starts with a device that is not offered, or has gone") {
  Node node(test_pool());
  CHECK(node.resource.pre_start({"0000:ff:00.1"}).error().code() == Code::not_found);
  node.tree.vanish(node.vf0);
  CHECK_FALSE(node.resource.pre_start({node.id0}));
}

}  // namespace
}  // namespace ibpod::agent::kubelet
