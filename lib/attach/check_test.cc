#include "lib/attach/check.h"

#include "lib/attach/add.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <functional>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

void make(Bed& bed) {
  bed.order.wanted.mtu = 1500;
  bed.order.wanted.pkey = ib::PKey(0x8001);
  bed.k.fabric.pkeys[kAsked.port] = {ib::PKey(0x8001)};
  REQUIRE(bed.add());
  bed.be(cni::Verb::check, "c1", kPod);
  bed.configure(
      R"("ipam":{"type":"lease"},"prevResult":{"cniVersion":"1.0.0","ips":[{"address":"10.1.2.3/24","gateway":"10.1.2.1"}],"routes":[{"dst":"0.0.0.0/0"}]})");
}

struct Difference {
  const char* name;
  std::function<void(Bed&)> make;
  std::string text;
};

std::vector<fake::RdmaDevice*> devices(Bed& bed) {
  std::vector<fake::RdmaDevice*> found;
  for (auto& [id, where] : bed.k.state.namespaces) {
    for (auto& [name, device] : where.rdma) {
      if (device.function == kVf) found.push_back(&device);
    }
  }
  return found;
}

void down(Bed& bed) {
  const auto index = bed.k.interface(kPod, "net1").index.value;
  bed.k.change_netdev(*bed.k.find_namespace(kPod).value(), index, {.up = false}).value();
}

const std::vector<Difference> kDifferences{
    {"no record", [](Bed& b) { std::filesystem::remove(b.record_file()); },
     "there is no record of this attachment: 0000:3b:00.1/c1:net1"},
    {"another namespace", [](Bed& b) { b.k.make_namespace(kPod); },
     "CNI_NETNS: /run/netns/pod is not the namespace of the ADD"},
    {"renamed",
     [](Bed& b) {
       down(b);
       b.k.rename_netdev(kPod, "net1", "mine");
     },
     "the interface is called mine instead of net1"},
    {"down", down, "net1 is down"},
    {"another MTU", [](Bed& b) { b.k.interface(kPod, "net1").mtu = 2000; },
     "net1 has MTU 2000 instead of 1500"},
    {"no address", [](Bed& b) { b.k.interface(kPod, "net1").addresses.clear(); },
     "net1 does not have the address 10.1.2.3/24"},
    {"no route", [](Bed& b) { b.k.interface(kPod, "net1").routes.clear(); },
     "net1 does not have the route to 0.0.0.0/0 by 10.1.2.1"},
    {"another GUID",
     [](Bed& b) {
       for (fake::RdmaDevice* device : devices(b)) device->port_guid.value = ib::Guid(1);
     },
     "mlx5_1 has the port GUID 00:00:00:00:00:00:00:01 instead of 02:00:00:00:00:00:0a:01"},
    {"unbound", [](Bed& b) { b.k.unbind(kVf); }, "the interface of 0000:3b:00.1 is not in the pod"},
};

TEST_CASE("CHECK is content with what ADD made, and changes nothing") {
  Bed bed;
  make(bed);
  const fake::State given = bed.k.state;
  const Status checked = bed.check();
  REQUIRE_MESSAGE(checked, (checked ? "" : checked.error().text()));
  CHECK(fake::diff(given, bed.k.state) == "");
  CHECK(bed.ipam_calls().back().starts_with("CHECK c1:net1"));
}

TEST_CASE("an MTU that the broadcast group has lowered is no difference") {
  Bed bed;
  make(bed);
  bed.k.interface(kPod, "net1").mtu = 1400;
  CHECK(bed.check());
}

TEST_CASE("CHECK of a device on vfio-pci looks at its driver and at what the PF was told") {
  Bed bed(false);
  bed.k.unbind(kVf);
  bed.k.bind(kVf, "vfio-pci").value();
  bed.order.wanted.isolation = false;
  REQUIRE(bed.add());
  bed.be(cni::Verb::check, "c1", kPod);
  CHECK(bed.check());
  SUBCASE("other GUIDs") {
    bed.k.function_state(kVf).port_guid.value = ib::Guid(1);
    CHECK(bed.check().error().text() ==
          "the PF has been told the port GUID 00:00:00:00:00:00:00:01 for 0000:3b:00.1 instead of "
          "02:00:00:00:00:00:0a:01");
  }
  SUBCASE("another driver") {
    bed.k.unbind(kVf);
    CHECK(bed.check().error().text() == "0000:3b:00.1 is bound to no driver instead of vfio-pci");
  }
}

TEST_CASE("CHECK names what is not as ADD made it") {
  for (const Difference& difference : kDifferences) {
    Bed bed;
    make(bed);
    CAPTURE(difference.name);
    difference.make(bed);
    const Status checked = bed.check();
    REQUIRE_FALSE(checked);
    CHECK(checked.error().text() == difference.text);
    CHECK(cni::failure_of(checked.error()).code == cni::kCheckFailed);
  }
}

TEST_CASE("CHECK tells of a partition that has gone from the port's table") {
  Bed bed;
  make(bed);
  for (fake::RdmaDevice* device : devices(bed)) {
    device->port.value.pkeys.front() = ib::PKey(0x7fff);
  }
  bed.k.fabric.pkeys.clear();
  const Error error = bed.check().error();
  CHECK(cni::failure_of(error).code == cni::kCheckFailed);
  CHECK(error.text().starts_with("partition 0x8001 is not there: "));
}

}  // namespace
}  // namespace ibpod::attach
