#include "lib/attach/verbs.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <functional>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};

Result<cni::AddResult> add_now(Fixture& fixture) { return fixture.add(); }
Status del_now(Fixture& fixture) {
  fixture.set_call(cni::Verb::del, "c1", kPod);
  return del(fixture.context(), kVf.text(), kLong);
}
int code_of(const Error& error) { return cni::failure_of(error).code; }

// Runs an ADD, and something else during its call of IPAM.
Result<cni::AddResult> add_while_ipam_waits(Fixture& fixture,
                                            const std::function<void()>& happens) {
  fixture.install_ipam(
      "[ $VERB = ADD ] && { : > $HERE/asked; while [ ! -e $HERE/go ]; do sleep 0.01; done; }");
  std::thread runtime([&] {
    while (!path_exists(fixture.programs.path() / "asked")) std::this_thread::yield();
    happens();
    fixture.programs.write("go", "");
  });
  Result<cni::AddResult> added = add_now(fixture);
  runtime.join();
  return added;
}

TEST_CASE("a pod gets its VF with addresses, and the answer tells all of it") {
  Fixture fixture;
  const Result<cni::AddResult> added = add_now(fixture);
  REQUIRE_MESSAGE(added, (added ? "" : added.error().text()));
  REQUIRE(added->interfaces.size() == 1);
  const cni::Interface& interface = added->interfaces.front();
  CHECK(interface.name == "net1");
  CHECK(interface.sandbox == kPod.string());
  CHECK(interface.pci_id == "0000:3b:00.1");
  CHECK(interface.mtu == 2044U);
  CHECK(interface.mac.ends_with(kSpecGuids.port.text()));
  REQUIRE(added->ips.size() == 1);
  CHECK(added->ips.front().interface == 0U);
  const fake::Interface& inside = fixture.k.interface(kPod, "net1");
  REQUIRE(inside.addresses.size() == 1);
  CHECK(inside.addresses.front().text() == "10.1.2.3/24");
  REQUIRE(inside.routes.size() == 1);
  CHECK(inside.routes.front().gateway->text() == "10.1.2.1");
  REQUIRE(fixture.k.announced.size() == 1);
  CHECK(fixture.k.announced.front().netdev == "net1");
  CHECK(fixture.recorded() == std::vector<std::string>{"0000:3b:00.1/c1:net1"});
  CHECK(fixture.leases() == std::vector<std::string>{"lease-c1:net1"});
  REQUIRE(del_now(fixture));
  CHECK(fixture.leftovers() == "");
}

struct Refusal {
  const char* name;
  std::function<void(Fixture&)> make;
  int code;
  std::string text;
};

const std::vector<Refusal> kRefusals{
    {"no namespace", [](Fixture& b) { b.set_call(cni::Verb::add, "c1", "/run/netns/gone"); },
     cni::kUnknownContainer, "CNI_NETNS: there is no network namespace at /run/netns/gone"},
    {"the host's namespace", [](Fixture& b) { b.set_call(cni::Verb::add, "c1", kOwn); },
     cni::kInvalidEnvironment,
     "CNI_NETNS: /proc/self/ns/net is the host's own network namespace: a pod with hostNetwork "
     "needs no attachment"},
    {"a taken name", [](Fixture& b) { b.set_call(cni::Verb::add, "c1", kPod, "eth0"); },
     cni::kInterfaceExists, "CNI_IFNAME: the pod already has an interface eth0"},
    {"no such function", [](Fixture& b) { b.vf_config.device = fake::vf_address(0, 9); },
     cni::kDeviceMissing, "deviceID 0000:3b:01.2: there is no such PCI function on this node"},
    {"a PF", [](Fixture& b) { b.vf_config.device = fake::pf_address(0); },
     cni::kInvalidConfiguration,
     "deviceID 0000:3b:00.0 is a physical function: use one of its VFs, or bind it to vfio-pci to "
     "pass all of it to a virtual machine"},
    {"not on vfio-pci", [](Fixture& b) { b.vf_config.vfio = true; }, cni::kInvalidConfiguration,
     "vfioPciMode: deviceID 0000:3b:00.1 is bound to mlx5_core, not to vfio-pci: bind it to "
     "vfio-pci, or remove vfioPciMode"},
    {"no driver", [](Fixture& b) { b.k.unbind(kVf); }, cni::kTryAgainLater,
     "0000:3b:00.1 is not bound to a driver: bind it to its own driver (mlx5_core) or to vfio-pci"},
    {"shared mode", [](Fixture& b) { b.k.state.rdma_mode = nl::RdmaNetnsMode::shared; },
     cni::kKernelUnsupported,
     "rdmaIsolation: this node's RDMA subsystem is in shared mode, where every pod sees every RDMA "
     "device: put \"options ib_core netns_mode=0\" into /etc/modprobe.d/ibpod.conf, rebuild the "
     "initramfs and reboot, or set rdmaIsolation to false"},
    {"children of an administrator's",
     [](Fixture& b) { b.k.add_child("", "ib1", "ib1.8001", ib::PKey(0x8001)); },
     cni::kTryAgainLater,
     "0000:3b:00.1 has IPoIB child interfaces (ib1.8001) that the attach would delete; remove "
     "them first"},
    {"no GUID",
     [](Fixture& b) {
       b.k.function_state(kVf).node_guid.value = ib::kNoGuid;
       b.k.function_state(kVf).port_guid.value = ib::kNoGuid;
       b.k.unbind(kVf);
       b.k.bind(kVf, "mlx5_core").value();
       b.vf_config.spec.guids.reset();
     },
     cni::kInvalidConfiguration,
     "the VF 0000:3b:00.1 has no GUID (ff:ff:ff:ff:ff:ff:ff:ff), and the network requests none: "
     "request one (runtimeConfig.infinibandGUID, args.cni.guid or guid), or set the VF's first: ip "
     "link set PF vf N node_guid GUID, the same with port_guid, then unbind and bind the VF"},
    {"an MTU that is too large", [](Fixture& b) { b.vf_config.spec.mtu = 65520; },
     cni::kInvalidConfiguration, "set the MTU: Invalid argument"},
    {"an IPAM of another version", [](Fixture& b) { b.install_ipam("", R"("0.3.1","0.4.0")"); },
     cni::kIncompatibleVersion,
     "ipam lease: it supports 0.3.1, 0.4.0, but not the configuration's cniVersion 1.0.0"},
};

TEST_CASE("what cannot be is refused with its code and its reason, and changes nothing") {
  for (const Refusal& refusal : kRefusals) {
    Fixture fixture;
    CAPTURE(refusal.name);
    refusal.make(fixture);
    fixture.remember();
    const Result<cni::AddResult> added = add_now(fixture);
    REQUIRE_FALSE(added);
    CHECK(code_of(added.error()) == refusal.code);
    CHECK(added.error().text() == refusal.text);
    CHECK(fixture.leftovers() == "");
    CHECK(fixture.leases().empty());
    fixture.set_call(cni::Verb::del, "c1", fixture.call.netns);
    CHECK(del(fixture.context(), fixture.vf_config.device.text(), kLong));
    CHECK(fixture.leftovers() == "");
  }
}

TEST_CASE("an IPAM program that is not there is refused, and the DEL behind it is none") {
  Fixture fixture;
  fixture.configure(R"("ipam":{"type":"absent"})");
  const Error error = add_now(fixture).error();
  CHECK(code_of(error) == cni::kIpamFailed);
  CHECK(fixture.leftovers() == "");
  CHECK(del_now(fixture));
  CHECK(fixture.warnings.size() == 1);
}

TEST_CASE("where IPAM fails, it is told DEL once, and all is undone") {
  Fixture fixture;
  fixture.install_ipam(R"([ $VERB = ADD ] && { echo '{"code":100,"msg":"no range"}'; exit 1; })");
  const Error error = add_now(fixture).error();
  CHECK(error.text() == "ipam lease: no range (code 100)");
  CHECK(code_of(error) == cni::kIpamFailed);
  CHECK(fixture.leftovers() == "");
  REQUIRE(fixture.ipam_calls().size() == 2);
  CHECK(fixture.ipam_calls().back().starts_with("DEL c1:net1"));
}

TEST_CASE("an IPAM that refuses whatever it is asked keeps no VF out of service") {
  Fixture fixture;
  fixture.install_ipam("echo '{\"code\":7,\"msg\":\"broken\"}'; exit 1");
  CHECK(add_now(fixture).error().text() == "ipam lease: broken (code 7)");
  CHECK(fixture.leftovers() == "");
  CHECK(fixture.warnings ==
        std::vector<std::string>{"IPAM also refused the DEL: ipam lease: broken (code 7)"});
}

TEST_CASE("an IPAM that has not been asked is not told DEL, and quarantines nothing") {
  Fixture fixture;
  fixture.install_ipam("[ $VERB = DEL ] && exit 1");
  fixture.vf_config.spec.pkey = ib::PKey(0x8001);
  fixture.k.fabric.pkeys[kSpecGuids.port] = {ib::PKey(0x7fff)};
  CHECK(code_of(add_now(fixture).error()) == cni::kTryAgainLater);
  CHECK(fixture.ipam_calls().empty());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("what an IPAM that broke off may have reserved is owed to it") {
  for (const char* broken : {"kill -9 $$", "echo '{'; exit 0", "exit 3"}) {
    Fixture fixture;
    CAPTURE(broken);
    fixture.install_ipam("[ $VERB = ADD ] && { : > $HERE/lease-$KEY; " + std::string(broken) +
                         "; }\n[ $VERB = DEL ] && [ ! -e $HERE/well ] && { echo "
                         "'{\"code\":7,\"msg\":\"no\"}'; exit 1; }");
    const Error error = add_now(fixture).error();
    CHECK(code_of(error) == cni::kIpamFailed);
    CHECK(fixture.recorded().empty());
    CHECK(fixture.owed().size() == 1);
    CHECK(fixture.changes() == "");  // the device is back
    // ADD and one DEL: a second DEL would have the same answer.
    CHECK(fixture.ipam_calls().size() == 2);
    fixture.programs.write("well", "");
    REQUIRE(del_now(fixture));
    CHECK(fixture.leftovers() == "");
  }
}

TEST_CASE("a pod that ends while IPAM is asked keeps nothing") {
  Fixture fixture;
  const auto added = add_while_ipam_waits(fixture, [&] { fixture.k.kill_namespace(kPod); });
  REQUIRE_FALSE(added);
  CHECK(fixture.leases().empty());
  CHECK(fixture.recorded().empty());
}

TEST_CASE("a pod that has ended while its ADD waited for the device is given nothing") {
  Fixture fixture(false);
  fixture.boot_id = "last-boot";
  fixture.k.make_namespace("/run/netns/last");
  fixture.set_call(cni::Verb::add, "c0", "/run/netns/last");
  REQUIRE(add_now(fixture));
  fixture.boot_id = "this-boot";
  fixture.set_call(cni::Verb::add, "c1", kPod);
  // During the cleanup of the last attachment.
  bool alive = true;
  const auto kernel = node::trace(fixture.k, [&](const node::Step& step) {
    if (alive && step.kind == node::StepKind::order) fixture.k.kill_namespace(kPod);
    alive = alive && step.kind != node::StepKind::order;
  });
  VfDriver driver(fixture.vf_config);
  const Result<cni::AddResult> added =
      add(fixture.context(*kernel), driver, Deadline::in(fixture.timeout));
  REQUIRE_FALSE(added);
  CHECK(added.error().text() ==
        "CNI_NETNS: the network namespace /run/netns/pod has ended while the attachment was being "
        "made");
  CHECK(code_of(added.error()) == cni::kUnknownContainer);
  CHECK(fixture.recorded().empty());
}

TEST_CASE("neighbours that cannot be told are a warning, not a failure") {
  Fixture fixture;
  const int orders = [] {
    Fixture counted;
    REQUIRE(add_now(counted));
    return counted.k.orders();
  }();
  fixture.k.fail_at(orders - 1);  // announce() is the last step
  REQUIRE(add_now(fixture));
  REQUIRE(fixture.k.struck());
  CHECK(fixture.warnings ==
        std::vector<std::string>{"the addresses are not announced: announce: Input/output error"});
}

TEST_CASE("other character devices than before are told") {
  Fixture fixture(false);
  fixture.k.unbind(kVf);
  fixture.k.unbind(fake::vf_address(0, 1));
  fixture.k.bind(fake::vf_address(0, 1), "mlx5_core").value();
  fixture.k.bind(kVf, "mlx5_core").value();
  fixture.k.unbind(fake::vf_address(0, 1));  // the VF's numbers are free and the lowest
  REQUIRE(add_now(fixture));
  REQUIRE(fixture.warnings.size() == 1);
  CHECK(fixture.warnings.front() ==
        "the RDMA character devices of 0000:3b:00.1 changed from issm2, "
        "umad2, uverbs2 to issm1, umad1, uverbs1: a container that is allowed them by number may "
        "have access to the wrong "
        "ones");
}

TEST_CASE("a lease that cannot be given back now is owed, and the error says so") {
  Fixture fixture;
  fixture.install_ipam("[ $VERB = DEL ] && [ ! -e $HERE/well ] && exit 1");
  fixture.k.fail_at(7);  // configure
  const Error error = add_now(fixture).error();
  fixture.k.heal();
  REQUIRE(fixture.leases().size() == 1);
  CHECK(error.text().find(
            "; the rollback is not complete: 0000:3b:00.1 is back and free "
            "for the next pod, but the pod's address is not yet released at ipam lease") !=
        std::string::npos);
  CHECK(fixture.recorded().empty());
  CHECK(fixture.changes() == "");  // the device is back
  // A second ADD of the same name would get an address that is about to be released.
  const Error again = add_now(fixture).error();
  CHECK(code_of(again) == cni::kTryAgainLater);
  CHECK(again.text().find("not yet released at ipam lease") != std::string::npos);
  fixture.programs.write("well", "");
  REQUIRE(del_now(fixture));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a DEL that comes while IPAM is slow wins, and leaves no lease") {
  Fixture fixture;
  const auto added =
      add_while_ipam_waits(fixture, [&] { CHECK(del(fixture.context(), kVf.text(), kLong)); });
  REQUIRE_FALSE(added);
  CHECK(code_of(added.error()) != 0);
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("the partition is waited for, and the log tells its index") {
  Fixture fixture(false);
  fixture.vf_config.spec.pkey = ib::PKey(0x0001);
  fixture.k.fabric.pkeys[kSpecGuids.port] = {ib::PKey(0x7fff), ib::PKey(0x8001)};
  REQUIRE(add_now(fixture));
  CHECK(fixture.achievements.back() ==
        "partition 0x0001 is verified: 0x8001, full member, at index 1");
}

TEST_CASE("a partition that does not come is error 11, with what the port shows, and undone") {
  Fixture fixture(false);
  fixture.vf_config.spec.pkey = ib::PKey(0x8001);
  const Error error = add_now(fixture).error();
  CHECK(code_of(error) == cni::kTryAgainLater);
  CHECK(error.text() ==
        "timed out waiting for P_Key 0x8001: the P_Key table of port GUID 02:00:00:00:00:00:0a:01 "
        "does not contain it as full member; "
        "add the GUID to the partition at the subnet manager");
  CHECK(error.details().starts_with("port state ACTIVE, LID "));
  CHECK(error.details().find("P_Key table: 0:0x7fff") != std::string::npos);
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a VF on vfio-pci is recorded and given its GUID, and IPAM is asked for it, too") {
  Fixture fixture;
  fixture.k.unbind(kVf);
  fixture.k.bind(kVf, "vfio-pci").value();
  fixture.vf_config.vfio = true;
  fixture.vf_config.spec.pkey = ib::PKey(0x8001);
  fixture.remember();
  const Result<cni::AddResult> added = add_now(fixture);
  REQUIRE(added);
  CHECK(added->interfaces.front().mac.empty());
  CHECK(added->ips.size() == 1);
  CHECK(added->unverified == std::vector<std::string>{"0x8001"});
  CHECK(fixture.k.function_state(kVf).port_guid.value == kSpecGuids.port);
  CHECK(fixture.warnings.front() == "ignored for a device on vfio-pci: rdmaIsolation");
  CHECK(fixture.warnings.back() ==
        "partition 0x8001 is not verified: a device on vfio-pci has no port on this node");
  REQUIRE(del_now(fixture));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a PF on vfio-pci is handed over as it is") {
  Fixture fixture;
  fixture.k.unbind(fake::pf_address(0));
  fixture.k.bind(fake::pf_address(0), "vfio-pci").value();
  fixture.vf_config.device = fake::pf_address(0);
  fixture.vf_config.spec.isolation = false;
  fixture.remember();
  const Result<cni::AddResult> added = add_now(fixture);
  REQUIRE(added);
  CHECK(added->unverified.empty());
  CHECK(fixture.changes() == "");
  REQUIRE(del_now(fixture));
  CHECK(fixture.leftovers() == "");
}

}  // namespace
}  // namespace ibpod::attach
