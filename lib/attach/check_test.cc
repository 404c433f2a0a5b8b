#include "lib/attach/verbs.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <functional>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

void make(Fixture& fixture) {
  fixture.vf_config.spec.mtu = 1500;
  fixture.vf_config.spec.pkey = ib::PKey(0x8001);
  fixture.k.fabric.pkeys[kSpecGuids.port] = {ib::PKey(0x8001)};
  REQUIRE(fixture.add());
  fixture.set_call(cni::Verb::check, "c1", kPod);
  fixture.configure(
      R"("ipam":{"type":"lease"},"prevResult":{"cniVersion":"1.0.0","ips":[{"address":"10.1.2.3/24","gateway":"10.1.2.1"}],"routes":[{"dst":"0.0.0.0/0"}]})");
}

struct Difference {
  const char* name;
  std::function<void(Fixture&)> make;
  std::string text;
};

std::vector<fake::RdmaDevice*> devices(Fixture& fixture) {
  std::vector<fake::RdmaDevice*> found;
  for (auto& [id, where] : fixture.k.state.namespaces) {
    for (auto& [name, device] : where.rdma) {
      if (device.function == kVf) found.push_back(&device);
    }
  }
  return found;
}

void down(Fixture& fixture) {
  const auto index = fixture.k.interface(kPod, "net1").index.value;
  fixture.k.change_netdev(*fixture.k.find_namespace(kPod).value(), index, {.up = false}).value();
}

const std::vector<Difference> kDifferences{
    {"no record", [](Fixture& b) { std::filesystem::remove(b.record_file()); },
     "there is no record of this attachment: 0000:3b:00.1/c1:net1"},
    {"another namespace", [](Fixture& b) { b.k.make_namespace(kPod); },
     "CNI_NETNS: /run/netns/pod is not the namespace of the ADD"},
    {"renamed",
     [](Fixture& b) {
       down(b);
       b.k.rename_netdev(kPod, "net1", "mine");
     },
     "the interface is called mine instead of net1"},
    {"down", down, "net1 is down"},
    {"another MTU", [](Fixture& b) { b.k.interface(kPod, "net1").mtu = 2000; },
     "net1 has MTU 2000 instead of 1500"},
    {"no address", [](Fixture& b) { b.k.interface(kPod, "net1").addresses.clear(); },
     "net1 does not have the address 10.1.2.3/24"},
    {"no route", [](Fixture& b) { b.k.interface(kPod, "net1").routes.clear(); },
     "net1 does not have the route to 0.0.0.0/0 via 10.1.2.1"},
    {"another GUID",
     [](Fixture& b) {
       for (fake::RdmaDevice* device : devices(b)) device->port_guid.value = ib::Guid(1);
     },
     "mlx5_1 has the port GUID 00:00:00:00:00:00:00:01 instead of 02:00:00:00:00:00:0a:01"},
    {"unbound", [](Fixture& b) { b.k.unbind(kVf); },
     "the interface of 0000:3b:00.1 is not in the pod"},
};

TEST_CASE("CHECK is content with what ADD made, and changes nothing") {
  Fixture fixture;
  make(fixture);
  const fake::State given = fixture.k.state;
  const Status checked = fixture.check();
  REQUIRE_MESSAGE(checked, (checked ? "" : checked.error().text()));
  CHECK(fake::diff(given, fixture.k.state) == "");
  CHECK(fixture.ipam_calls().back().starts_with("CHECK c1:net1"));
}

TEST_CASE("an MTU that the broadcast group has lowered is no difference") {
  Fixture fixture;
  make(fixture);
  fixture.k.interface(kPod, "net1").mtu = 1400;
  CHECK(fixture.check());
}

TEST_CASE("CHECK of a device on vfio-pci looks at its driver and at what the PF was told") {
  Fixture fixture(false);
  fixture.k.unbind(kVf);
  fixture.k.bind(kVf, "vfio-pci").value();
  fixture.vf_config.spec.isolation = false;
  REQUIRE(fixture.add());
  fixture.set_call(cni::Verb::check, "c1", kPod);
  CHECK(fixture.check());
  SUBCASE("other GUIDs") {
    fixture.k.function_state(kVf).port_guid.value = ib::Guid(1);
    CHECK(fixture.check().error().text() ==
          "the PF is set to the port GUID 00:00:00:00:00:00:00:01 for 0000:3b:00.1 instead of "
          "02:00:00:00:00:00:0a:01");
  }
  SUBCASE("another driver") {
    fixture.k.unbind(kVf);
    CHECK(fixture.check().error().text() ==
          "0000:3b:00.1 is bound to no driver instead of vfio-pci");
  }
}

TEST_CASE("CHECK names what is not as ADD made it") {
  for (const Difference& difference : kDifferences) {
    Fixture fixture;
    make(fixture);
    CAPTURE(difference.name);
    difference.make(fixture);
    const Status checked = fixture.check();
    REQUIRE_FALSE(checked);
    CHECK(checked.error().text() == difference.text);
    CHECK(cni::failure_of(checked.error()).code == cni::kCheckFailed);
  }
}

TEST_CASE("CHECK tells of a partition that has gone from the port's table") {
  Fixture fixture;
  make(fixture);
  for (fake::RdmaDevice* device : devices(fixture)) {
    device->port.value.pkeys.front() = ib::PKey(0x7fff);
  }
  fixture.k.fabric.pkeys.clear();
  const Error error = fixture.check().error();
  CHECK(cni::failure_of(error).code == cni::kCheckFailed);
  CHECK(error.text().starts_with("P_Key 0x8001 is missing: "));
}

constexpr Duration kLong{60'000};

TEST_CASE("STATUS is content where an ADD can succeed, and leaves nothing behind") {
  Fixture fixture;
  CHECK(status(fixture.context(), *fixture.driver(), kLong));
  CHECK(fixture.leftovers() == "");
  CHECK(fixture.ipam_calls().empty());
  fixture.install_ipam("", R"("1.0.0","1.1.0")");
  CHECK(status(fixture.context(), *fixture.driver(), kLong));
  CHECK(fixture.ipam_calls().size() == 1);
}

TEST_CASE("STATUS fails for what no ADD can survive") {
  Fixture fixture;
  SUBCASE("shared mode, and isolation is asked") {
    fixture.k.state.rdma_mode = nl::RdmaNetnsMode::shared;
    VfConfig config = fixture.vf_config;
    config.spec.isolation = false;
    const VfDriver shared(config);
    CHECK(status(fixture.context(), shared, kLong));
    CHECK(status(fixture.context(), *fixture.driver(), kLong).error().code() == Code::unsupported);
  }
  SUBCASE("no records can be kept") {
    fixture.records = node::Records(fixture.state.write("file", ""));
    CHECK(status(fixture.context(), *fixture.driver(), kLong)
              .error()
              .text()
              .starts_with("stateDir: no attachment can be recorded: "));
  }
  SUBCASE("IPAM speaks another version") {
    fixture.install_ipam("", R"("0.4.0")");
    CHECK(status(fixture.context(), *fixture.driver(), kLong).error().text() ==
          "IPAM: ipam lease: it supports 0.4.0, but not the configuration's cniVersion 1.0.0");
  }
  SUBCASE("IPAM is not there") {
    fixture.configure(R"("ipam":{"type":"absent"})");
    CHECK_FALSE(status(fixture.context(), *fixture.driver(), kLong));
  }
}

}  // namespace
}  // namespace ibpod::attach
