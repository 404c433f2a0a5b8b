#include "lib/attach/add.h"

#include "lib/attach/del.h"
#include "lib/attach/gc.h"
#include "lib/attach/test_loop.h"
#include "lib/cni/errors.h"
#include "tests/support/attach_fixture.h"

#include <functional>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

using fake::FakeKernel;
constexpr Duration kLong{60'000};

Result<cni::AddResult> add_now(Bed& bed) { return bed.add(); }
Status del_now(Bed& bed) {
  bed.be(cni::Verb::del, "c1", kPod);
  return del(bed.context(), kVf.text(), kLong);
}
int code_of(const Error& error) { return cni::failure_of(error).code; }

// An ADD, during whose call of IPAM something happens.
Result<cni::AddResult> add_while_ipam_waits(Bed& bed, const std::function<void()>& happens) {
  bed.install_ipam(
      "[ $VERB = ADD ] && { : > $HERE/asked; while [ ! -e $HERE/go ]; do sleep 0.01; done; }");
  std::thread runtime([&] {
    while (!path_exists(bed.programs.path() / "asked")) std::this_thread::yield();
    happens();
    bed.programs.write("go", "");
  });
  Result<cni::AddResult> added = add_now(bed);
  runtime.join();
  return added;
}

TEST_CASE("a pod gets its VF with addresses, and the answer tells all of it") {
  Bed bed;
  const Result<cni::AddResult> added = add_now(bed);
  REQUIRE_MESSAGE(added, (added ? "" : added.error().text()));
  REQUIRE(added->interfaces.size() == 1);
  const cni::Interface& interface = added->interfaces.front();
  CHECK(interface.name == "net1");
  CHECK(interface.sandbox == kPod.string());
  CHECK(interface.pci_id == "0000:3b:00.1");
  CHECK(interface.mtu == 2044U);
  CHECK(interface.mac.ends_with(kAsked.port.text()));
  REQUIRE(added->ips.size() == 1);
  CHECK(added->ips.front().interface == 0U);
  const fake::Interface& inside = bed.k.interface(kPod, "net1");
  REQUIRE(inside.addresses.size() == 1);
  CHECK(inside.addresses.front().text() == "10.1.2.3/24");
  REQUIRE(inside.routes.size() == 1);
  CHECK(inside.routes.front().gateway->text() == "10.1.2.1");
  REQUIRE(bed.k.announced.size() == 1);
  CHECK(bed.k.announced.front().netdev == "net1");
  CHECK(bed.recorded() == std::vector<std::string>{"0000:3b:00.1/c1:net1"});
  CHECK(bed.leases() == std::vector<std::string>{"lease-c1:net1"});
  REQUIRE(del_now(bed));
  CHECK(bed.leftovers() == "");
}

struct Refusal {
  const char* name;
  std::function<void(Bed&)> make;
  int code;
  std::string text;
};

const std::vector<Refusal> kRefusals{
    {"no namespace", [](Bed& b) { b.be(cni::Verb::add, "c1", "/run/netns/gone"); },
     cni::kUnknownContainer, "CNI_NETNS: there is no network namespace at /run/netns/gone"},
    {"the host's namespace", [](Bed& b) { b.be(cni::Verb::add, "c1", kOwn); },
     cni::kInvalidEnvironment,
     "CNI_NETNS: /proc/self/ns/net is the host's own network namespace: a pod with hostNetwork "
     "needs no attachment"},
    {"a taken name", [](Bed& b) { b.be(cni::Verb::add, "c1", kPod, "eth0"); },
     cni::kInterfaceExists, "CNI_IFNAME: the pod already has an interface eth0"},
    {"no such function", [](Bed& b) { b.order.device = fake::vf_address(0, 9); },
     cni::kDeviceMissing, "deviceID 0000:3b:01.2: there is no such PCI function on this node"},
    {"a PF", [](Bed& b) { b.order.device = fake::pf_address(0); }, cni::kInvalidConfiguration,
     "deviceID 0000:3b:00.0 is a physical function: give one of its VFs, or bind it to vfio-pci to "
     "pass all of it to a virtual machine"},
    {"not on vfio-pci", [](Bed& b) { b.order.vfio = true; }, cni::kInvalidConfiguration,
     "vfioPciMode: deviceID 0000:3b:00.1 is bound to mlx5_core, not to vfio-pci: bind it, or leave "
     "vfioPciMode out"},
    {"no driver", [](Bed& b) { b.k.unbind(kVf); }, cni::kTryAgainLater,
     "0000:3b:00.1 is bound to no driver: bind it to its own one (mlx5_core) or to vfio-pci"},
    {"shared mode", [](Bed& b) { b.k.state.rdma_mode = nl::RdmaNetnsMode::shared; },
     cni::kKernelUnsupported,
     "rdmaIsolation: this node's RDMA subsystem is in shared mode, where every pod sees every RDMA "
     "device: put \"options ib_core netns_mode=0\" into /etc/modprobe.d/ibpod.conf, renew the "
     "initramfs and reboot, or set rdmaIsolation to false"},
    {"children of an administrator's",
     [](Bed& b) { b.k.add_child("", "ib1", "ib1.8001", ib::PKey(0x8001)); }, cni::kTryAgainLater,
     "0000:3b:00.1 has IPoIB children of somebody's (ib1.8001), which would end with its "
     "interface: remove them first"},
    {"no GUID",
     [](Bed& b) {
       b.k.function_state(kVf).node_guid.value = ib::kNoGuid;
       b.k.function_state(kVf).port_guid.value = ib::kNoGuid;
       b.k.unbind(kVf);
       b.k.bind(kVf, "mlx5_core").value();
       b.order.wanted.guids.reset();
     },
     cni::kInvalidConfiguration,
     "the VF 0000:3b:00.1 has no GUID (ff:ff:ff:ff:ff:ff:ff:ff), and none is asked for. Ask for "
     "one "
     "(runtimeConfig.infinibandGUID, args.cni.guid or guid), or give the VF one beforehand: ip "
     "link "
     "set PF vf N node_guid GUID, the same with port_guid, then bind it anew"},
    {"an MTU that is too large", [](Bed& b) { b.order.wanted.mtu = 65520; },
     cni::kInvalidConfiguration, "set the MTU: Invalid argument"},
    {"an IPAM of another version", [](Bed& b) { b.install_ipam("", R"("0.3.1","0.4.0")"); },
     cni::kIncompatibleVersion,
     "ipam lease: it speaks 0.3.1, 0.4.0, and not the configuration's cniVersion 1.0.0"},
};

TEST_CASE("what cannot be is refused with its code and its reason, and changes nothing") {
  for (const Refusal& refusal : kRefusals) {
    Bed bed;
    CAPTURE(refusal.name);
    refusal.make(bed);
    bed.remember();
    const Result<cni::AddResult> added = add_now(bed);
    REQUIRE_FALSE(added);
    CHECK(code_of(added.error()) == refusal.code);
    CHECK(added.error().text() == refusal.text);
    CHECK(bed.leftovers() == "");
    CHECK(bed.leases().empty());
    bed.be(cni::Verb::del, "c1", bed.call.netns);
    CHECK(del(bed.context(), bed.order.device.text(), kLong));
    CHECK(bed.leftovers() == "");
  }
}

TEST_CASE("an IPAM program that is not there is refused, and the DEL behind it is none") {
  Bed bed;
  bed.configure(R"("ipam":{"type":"absent"})");
  const Error error = add_now(bed).error();
  CHECK(code_of(error) == cni::kIpamFailed);
  CHECK(bed.leftovers() == "");
  CHECK(del_now(bed));
  CHECK(bed.warnings.size() == 1);
}

TEST_CASE("where IPAM fails, it is told DEL once, and all is undone") {
  Bed bed;
  bed.install_ipam(R"([ $VERB = ADD ] && { echo '{"code":100,"msg":"no range"}'; exit 1; })");
  const Error error = add_now(bed).error();
  CHECK(error.text() == "ipam lease: no range (code 100)");
  CHECK(code_of(error) == cni::kIpamFailed);
  CHECK(bed.leftovers() == "");
  REQUIRE(bed.ipam_calls().size() == 2);
  CHECK(bed.ipam_calls().back().starts_with("DEL c1:net1"));
}

TEST_CASE("an IPAM that refuses whatever it is asked keeps no VF out of service") {
  Bed bed;
  bed.install_ipam("echo '{\"code\":7,\"msg\":\"broken\"}'; exit 1");
  CHECK(add_now(bed).error().text() == "ipam lease: broken (code 7)");
  CHECK(bed.leftovers() == "");
  CHECK(bed.warnings ==
        std::vector<std::string>{"IPAM refused the DEL, too: ipam lease: broken (code 7)"});
}

TEST_CASE("an IPAM that has not been asked is not told DEL, and quarantines nothing") {
  Bed bed;
  bed.install_ipam("[ $VERB = DEL ] && exit 1");
  bed.order.wanted.pkey = ib::PKey(0x8001);
  bed.k.fabric.pkeys[kAsked.port] = {ib::PKey(0x7fff)};
  CHECK(code_of(add_now(bed).error()) == cni::kTryAgainLater);
  CHECK(bed.ipam_calls().empty());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("what an IPAM that broke off may have reserved is owed to it") {
  for (const char* broken : {"kill -9 $$", "echo '{'; exit 0", "exit 3"}) {
    Bed bed;
    CAPTURE(broken);
    bed.install_ipam("[ $VERB = ADD ] && { : > $HERE/lease-$KEY; " + std::string(broken) +
                     "; }\n[ $VERB = DEL ] && [ ! -e $HERE/well ] && { echo "
                     "'{\"code\":7,\"msg\":\"no\"}'; exit 1; }");
    const Error error = add_now(bed).error();
    CHECK(code_of(error) == cni::kIpamFailed);
    CHECK(bed.recorded().empty());
    CHECK(bed.owed().size() == 1);
    CHECK(bed.changes() == "");  // the device is home all the same
    // Once: the second answer would not be another one.
    CHECK(bed.ipam_calls().size() == 2);
    bed.programs.write("well", "");
    REQUIRE(del_now(bed));
    CHECK(bed.leftovers() == "");
  }
}

TEST_CASE("a pod that ends while IPAM is asked keeps nothing") {
  Bed bed;
  const auto added = add_while_ipam_waits(bed, [&] { bed.k.kill_namespace(kPod); });
  REQUIRE_FALSE(added);
  CHECK(bed.leases().empty());
  CHECK(bed.recorded().empty());
}

TEST_CASE("a pod that has ended while its ADD waited for the device is given nothing") {
  Bed bed(false);
  bed.boot_id = "last-boot";
  bed.k.make_namespace("/run/netns/last");
  bed.be(cni::Verb::add, "c0", "/run/netns/last");
  REQUIRE(add_now(bed));
  bed.boot_id = "this-boot";
  bed.be(cni::Verb::add, "c1", kPod);
  // While what the last one has left is being cleared away.
  bool alive = true;
  const auto kernel = node::trace(bed.k, [&](const node::Step& step) {
    if (alive && step.kind == node::StepKind::order) bed.k.kill_namespace(kPod);
    alive = alive && step.kind != node::StepKind::order;
  });
  const Context c = bed.context();
  VfEndpoint endpoint(bed.order);
  const Result<cni::AddResult> added =
      add({*kernel, c.records, c.boot_id, c.plugin, c.call, c.network, c.agent, c.needs_agent,
           c.warn, c.inform, c.observe},
          endpoint, bed.order.wanted, bed.timeout);
  REQUIRE_FALSE(added);
  CHECK(added.error().text() ==
        "CNI_NETNS: the network namespace /run/netns/pod has ended while the attachment was being "
        "made");
  CHECK(code_of(added.error()) == cni::kUnknownContainer);
  CHECK(bed.recorded().empty());
}

TEST_CASE("neighbours that cannot be told are a warning, not a failure") {
  Bed bed;
  const int orders = [] {
    Bed counted;
    REQUIRE(add_now(counted));
    return counted.k.orders();
  }();
  bed.k.fail_at(orders - 1);  // announce comes last
  REQUIRE(add_now(bed));
  REQUIRE(bed.k.struck());
  CHECK(bed.warnings ==
        std::vector<std::string>{"the addresses are not announced: announce: Input/output error"});
}

TEST_CASE("other character devices than before are told") {
  Bed bed(false);
  bed.k.unbind(kVf);
  bed.k.unbind(fake::vf_address(0, 1));
  bed.k.bind(fake::vf_address(0, 1), "mlx5_core").value();
  bed.k.bind(kVf, "mlx5_core").value();
  bed.k.unbind(fake::vf_address(0, 1));  // its numbers are free, and the lowest
  REQUIRE(add_now(bed));
  REQUIRE(bed.warnings.size() == 1);
  CHECK(bed.warnings.front() ==
        "the RDMA character devices of 0000:3b:00.1 are issm1, umad1, uverbs1 now, were issm2, "
        "umad2, uverbs2: a container that was given them by number may be allowed the wrong ones");
}

TEST_CASE("a lease that cannot be given back now is owed, and the error says so") {
  Bed bed;
  bed.install_ipam("[ $VERB = DEL ] && [ ! -e $HERE/well ] && exit 1");
  bed.k.fail_at(7);  // configure
  const Error error = add_now(bed).error();
  bed.k.heal();
  REQUIRE(bed.leases().size() == 1);
  CHECK(error.text().find("; and some of it could not be undone yet: 0000:3b:00.1 is back and free "
                          "for the next pod, but the pod's address is still owed to ipam lease") !=
        std::string::npos);
  CHECK(bed.recorded().empty());
  CHECK(bed.changes() == "");  // the device is home all the same
  // The same name again would be given an address that is about to be taken back.
  const Error again = add_now(bed).error();
  CHECK(code_of(again) == cni::kTryAgainLater);
  CHECK(again.text().find("still owed to ipam lease") != std::string::npos);
  bed.programs.write("well", "");
  REQUIRE(del_now(bed));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a DEL that comes while IPAM is slow wins, and leaves no lease") {
  Bed bed;
  const auto added =
      add_while_ipam_waits(bed, [&] { CHECK(del(bed.context(), kVf.text(), kLong)); });
  REQUIRE_FALSE(added);
  CHECK(code_of(added.error()) != 0);
  CHECK(bed.leftovers() == "");
}

TEST_CASE("the partition is waited for, and the log tells its index") {
  Bed bed(false);
  bed.order.wanted.pkey = ib::PKey(0x0001);
  bed.k.fabric.pkeys[kAsked.port] = {ib::PKey(0x7fff), ib::PKey(0x8001)};
  REQUIRE(add_now(bed));
  CHECK(bed.news.back() == "partition 0x0001 is verified: 0x8001, full member, at index 1");
}

TEST_CASE("a partition that does not come is error 11, with what the port shows, and undone") {
  Bed bed(false);
  bed.order.wanted.pkey = ib::PKey(0x8001);
  const Error error = add_now(bed).error();
  CHECK(code_of(error) == cni::kTryAgainLater);
  CHECK(
      error.text() ==
      "partition 0x8001 is not there: the port's P_Key table does not hold 0x8001 as full member; "
      "the subnet manager has not put the GUID 02:00:00:00:00:00:0a:01 into it (yet)");
  CHECK(error.details().starts_with("port state ACTIVE, LID "));
  CHECK(error.details().find("P_Key table: 0:0x7fff") != std::string::npos);
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a VF on vfio-pci is recorded and given its GUID, and IPAM is asked for it, too") {
  Bed bed;
  bed.k.unbind(kVf);
  bed.k.bind(kVf, "vfio-pci").value();
  bed.order.vfio = true;
  bed.order.wanted.pkey = ib::PKey(0x8001);
  bed.remember();
  const Result<cni::AddResult> added = add_now(bed);
  REQUIRE(added);
  CHECK(added->interfaces.front().mac.empty());
  CHECK(added->ips.size() == 1);
  CHECK(added->unverified == std::vector<std::string>{"0x8001"});
  CHECK(bed.k.function_state(kVf).port_guid.value == kAsked.port);
  CHECK(bed.warnings.front() == "without effect on a device on vfio-pci: rdmaIsolation");
  CHECK(bed.warnings.back() ==
        "partition 0x8001 is not verified: a device on vfio-pci has no port on this node");
  REQUIRE(del_now(bed));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a PF on vfio-pci is handed over as it is") {
  Bed bed;
  bed.k.unbind(fake::pf_address(0));
  bed.k.bind(fake::pf_address(0), "vfio-pci").value();
  bed.order.device = fake::pf_address(0);
  bed.order.wanted.isolation = false;
  bed.remember();
  const Result<cni::AddResult> added = add_now(bed);
  REQUIRE(added);
  CHECK(added->unverified.empty());
  CHECK(bed.changes() == "");
  REQUIRE(del_now(bed));
  CHECK(bed.leftovers() == "");
}

// --- the loops

void prepare(Bed& bed, fake::IpoibReappears world, bool isolation) {
  bed.k.ipoib_reappears = world;
  bed.k.renames_while_up = world == fake::IpoibReappears::in_target;
  bed.order.wanted.isolation = isolation;
  bed.order.wanted.mtu = 1500;
  bed.order.wanted.policy = node::LinkPolicy::enable;
  bed.k.fabric.pkeys[kAsked.port] = {ib::PKey(0x8001)};
  bed.order.wanted.pkey = ib::PKey(0x8001);
}

int loop(fake::IpoibReappears world, bool isolation, bool ipam) {
  return loop_over(FakeKernel::Count::orders, ipam,
                   [&](Bed& bed) { prepare(bed, world, isolation); });
}

TEST_CASE(
    "wherever ADD or DEL fails or dies, DEL or GC leaves node, records and leases as before") {
  using fake::IpoibReappears;
  int points = 0;
  for (const auto world : {IpoibReappears::in_host, IpoibReappears::in_target}) {
    for (const bool isolation : {true, false}) {
      points += loop(world, isolation, false);
    }
  }
  points += loop(IpoibReappears::in_host, true, true);
  CHECK(points > 950);
}

TEST_CASE("so it is in a partition by name, with the VF's own GUID and with one that is granted") {
  int points = 0;
  for (const bool chosen : {false, true})
    points += loop_over(FakeKernel::Count::orders, false, [&](Bed& bed) {
      prepare(bed, fake::IpoibReappears::in_host, true);
      bed.order.wanted.pkey.reset();
      bed.order.wanted.partitions = {{"blue"}};
      if (!chosen) bed.order.wanted.guids.reset();
    });
  CHECK(points > 300);
}

TEST_CASE("so it is while its interface comes up anew for a full key that is not at index 0") {
  const int points = loop_over(FakeKernel::Count::orders, true, [](Bed& bed) {
    prepare(bed, fake::IpoibReappears::in_host, true);
    bed.k.fabric.pkeys[kAsked.port] = {ib::PKey(0x0001), ib::PKey(0x8001)};
  });
  CHECK(points > 240);
}

}  // namespace
}  // namespace ibpod::attach
