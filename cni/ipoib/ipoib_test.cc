// The plugin as a runtime calls it: environment and standard input in, JSON and an exit code out.
#include "cni/ipoib/config.h"
#include "tests/support/plugin_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::ipoib {
namespace {

using attach::kCalledPod;

struct Fixture : attach::PluginFixture {
  Fixture() : PluginFixture(plugin_kind()) {}
};

const std::string kMaster = R"("master":"ib0")";

// A published example configuration of ipoib-cni.
TEST_CASE("a configuration of ipoib-cni is served") {
  Fixture fixture;
  fixture.programs.script("whereabouts", R"(case $CNI_COMMAND in
VERSION) echo '{"cniVersion":"0.3.1","supportedVersions":["0.3.1"]}';;
ADD) echo '{"cniVersion":"0.3.1","ips":[{"version":"4","address":"192.168.5.2/28"}]}';;
esac)");
  const std::string config =
      R"({"cniVersion":"0.3.1","type":"ipoib","name":"example-ipoibnetwork","master":"ib0",
    "ipam":{"type":"whereabouts","range":"192.168.5.225/28","exclude":["192.168.6.229/30"]}})";
  const cni::Answer answer = fixture.call("ADD", config);
  REQUIRE_MESSAGE(answer.exit_code == 0, answer.output);
  CHECK(answer.output.find("192.168.5.2/28") != std::string::npos);
  const fake::Interface& child = fixture.k.interface(kCalledPod, "net1");
  CHECK(child.parent);
  CHECK(child.pkey == ib::kDefaultFull);
  CHECK(child.umcast);
  REQUIRE(fixture.call("DEL", config).exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("every verb answers") {
  Fixture fixture;
  const std::string added = expect_all_verbs(fixture, fixture.config(kMaster));
  CHECK(added.find(R"("mtu":2044)") != std::string::npos);
  CHECK(added.find("pciID") == std::string::npos);
}

TEST_CASE("a node can have it that nothing is attached without its agent") {
  Fixture fixture;
  expect_needs_agent(fixture, fixture.config(kMaster));
}

TEST_CASE("a node whose file names the agent attaches nothing without it") {
  Fixture fixture;
  expect_needs_named_agent(fixture, kMaster);
}

TEST_CASE(
    "a master on a VF has to be the pod's, in a pool or not; a PF, or a VF of masterVfs, need "
    "not") {
  Fixture fixture;
  fixture.agent.kubelet = true;
  fixture.environment["CNI_ARGS"] = "K8S_POD_NAMESPACE=lab;K8S_POD_NAME=pod";
  const std::string vf = R"("pf":"0000:3b:00.1")";
  // If it is in no pool of ours, it may be another device plugin's.
  for (const char* const pool : {"", "openib/vfs"}) {
    if (*pool != 0) fixture.agent.pools["0000:3b:00.1"] = pool;
    const cni::Answer refused = fixture.call("ADD", fixture.config(vf));
    REQUIRE(refused.failure);
    CHECK(
        refused.failure->message ==
        "pf: 0000:3b:00.1: the kubelet has not allocated it to the pod lab/pod; name a PF, request "
        "the VF's resource in the pod's spec, or, if the host keeps the VF for all pods, list "
        "0000:3b:00.1 under masterVfs in /etc/ibpod/cni.json");
  }
  CHECK(fixture.k.orders() == 0);
  SUBCASE("it is the pod's") { fixture.agent.given[{"lab/pod", "openib/vfs"}] = "0000:3b:00.1"; }
  SUBCASE("the node's file lists it") {
    fixture.node->master_vfs = {ib::PciAddress::parse("0000:3b:00.1").value()};
  }
  SUBCASE("the node's file lets a network name any device") { fixture.node->any_device = true; }
  for (const std::string& master : {vf, kMaster}) {
    CHECK(fixture.call("ADD", fixture.config(master)).exit_code == 0);
    CHECK(fixture.call("DEL", fixture.config(master)).exit_code == 0);
  }
  CHECK(fixture.changes() == "");
}

TEST_CASE("where the agent binds, a pkey is bound, and the child is on the key that it is told") {
  Fixture fixture;
  REQUIRE(node::Records(fixture.state.path() / "made").make_folder());
  REQUIRE(attach::AgentRequiredFile(fixture.state.path() / "made").write("/run/ibpod/agent.sock"));
  const std::string network = fixture.config(kMaster + R"(,"pkey":"0x1")");
  const cni::Answer added = fixture.call("ADD", network);
  REQUIRE_MESSAGE(added.exit_code == 0, added.output);
  CHECK(fixture.binder.leftovers() == "+ binding c1:net1\n");
  CHECK(fixture.call("CHECK", network).exit_code == 0);
  CHECK(fixture.call("DEL", network).exit_code == 0);
  CHECK(fixture.binder.leftovers() == "");
  const cni::Answer unknown = fixture.call("ADD", fixture.config(kMaster + R"(,"pkey":"0x3")"));
  REQUIRE(unknown.failure);
  CHECK(unknown.failure->message.find("partition 0x0003 is not for this namespace") !=
        std::string::npos);
}

TEST_CASE("a network may name the default partition only where no agent binds") {
  Fixture fixture;
  const std::string network = fixture.config(kMaster + R"(,"pkey":"0x7fff")");
  const cni::Answer added = fixture.call("ADD", network);
  REQUIRE_MESSAGE(added.exit_code == 0, added.output);
  CHECK(fixture.call("DEL", network).exit_code == 0);
  CHECK(fixture.changes() == "");
  REQUIRE(node::Records(fixture.state.path() / "made").make_folder());
  REQUIRE(attach::AgentRequiredFile(fixture.state.path() / "made").write("/run/ibpod/agent.sock"));
  for (const char* verb : {"ADD", "STATUS"}) {
    const cni::Answer refused = fixture.call(verb, network);
    REQUIRE(refused.failure);
    CHECK_MESSAGE(refused.failure->message.starts_with("pkey: 0x7fff is the default partition"),
                  refused.failure->message);
  }
}

TEST_CASE("where the agent wants it, a network that names no partition is refused") {
  Fixture fixture;
  attach::expect_needs_partition(fixture, kMaster);
}

TEST_CASE("STATUS tells of a master that is not there, and of none it answers that all is well") {
  Fixture fixture;
  CHECK(fixture.call("STATUS", fixture.config(R"("master":"ib9")")).failure->code == 50);
  CHECK(fixture.call("STATUS", fixture.config("")).exit_code == 0);
}

TEST_CASE("STATUS and ADD refuse a master's own partition if the agent requires a named one") {
  Fixture fixture;
  REQUIRE(node::Records(fixture.state.path() / "made").make_folder());
  REQUIRE(attach::AgentRequiredFile(fixture.state.path() / "made").write("/run/ibpod/agent.sock"));
  fixture.k.fabric.pkeys[fake::pf_guid(0)] = {ib::PKey(0x8001), ib::kDefaultFull};
  fixture.k.settle();
  for (const char* verb : {"STATUS", "ADD"}) {
    const cni::Answer answer = fixture.call(verb, fixture.config(kMaster));
    REQUIRE(answer.failure);
    CHECK(answer.failure->message.find("the master ib0 is in 0x8001") != std::string::npos);
  }
  CHECK(fixture.call("STATUS", fixture.config(kMaster + R"(,"pkey":"0x1")")).exit_code == 0);
}

TEST_CASE("DEL works whatever has become of the configuration since") {
  Fixture fixture;
  REQUIRE(fixture.call("ADD", fixture.config(kMaster)).exit_code == 0);
  const cni::Answer answer = fixture.call(
      "DEL", fixture.config(R"("master":7,"pkey":"x","mode":3,"mtu":"y","umcast":[],"pf":"z",)"
                            R"("timeoutSeconds":"z","logFile":"relative")"));
  CHECK(answer.exit_code == 0);
  CHECK(fixture.changes() == "");
}

TEST_CASE("GC takes children whose records have gone, and leaves an administrator's") {
  Fixture fixture;
  fixture.k.add_child("", "ib0", "ib0.8001", ib::PKey(0x8001));
  fixture.before = fixture.k.state;
  fixture.k.add_child("", "ib0", "ibpod0123456789", ib::PKey(0x8001));
  CHECK(fixture.call("GC", fixture.config("")).exit_code == 0);
  CHECK(fixture.changes() == "");
}

// --- bad inputs; the table of ib-sriov has those that both plugins share

std::string key(const std::string& text) { return kMaster + "," + text; }
const std::string kNoMaster =
    "master is missing: set it to the host's IPoIB interface (\"ib0\"), or set pf or deviceID to "
    "the PCI address of its function";
const std::string kNoPciAddress = "\" is not a PCI address: expected a form such as 0000:3b:00.2";
const std::string kNoKey = "\" is not a P_Key: expected 0x0001 to 0xffff, such as \"0x8001\"";

const std::vector<attach::BadInput> kBad{
    // the document
    {"raw", "[]", 6, "the document: expected an object, got a list"},
    {"raw", R"({"cniVersion":"1.1.0","type":"ipoib","master":"ib0"})", 7,
     "the document: the key \"name\" is missing"},
    // the master
    {"", "", 7, kNoMaster},
    {"", R"("master":"")", 7, kNoMaster},
    {"", R"("master":null)", 7, kNoMaster},
    {"", R"("master":7)", 7, "master: expected a string, got the number 7"},
    {"", R"("master":["ib0"])", 7, "master: expected a string, got a list"},
    {"", R"("master":"ib0","Master":"ib1")", 7,
     "Master: the keys \"master\" and \"Master\" differ only in case: keep \"master\""},
    {"", R"("master":"ib9")", 101, "master: the host has no interface ib9"},
    {"", R"("master":"../ib0")", 101, "master: the host has no interface ../ib0"},
    {"", R"("master":"lo")", 7, "master: lo is not an InfiniBand interface"},
    {"", R"("master":"eth7")", 7, "master: eth7 is not an InfiniBand interface"},
    {"", R"("master":"ib0.8005")", 7,
     "master: ib0.8005 is itself an IPoIB child: set master to its parent interface, and pkey to "
     "its partition"},
    {"", R"("deviceID":"ib0")", 7, "deviceID: \"ib0" + kNoPciAddress},
    {"", R"("deviceID":"../../../etc")", 7, "deviceID: \"../../../etc" + kNoPciAddress},
    {"", R"("deviceID":"0000:99:00.0")", 101,
     "the function 0000:99:00.0 has no IPoIB interface in the host's namespace: the function does "
     "not exist, a pod has it, or ib_ipoib is not loaded"},
    {"", R"("deviceID":"0000:3b:00.0","runtimeConfig":{"deviceID":"0000:3b:00.1"})", 7,
     "deviceID: \"0000:3b:00.0\" and runtimeConfig.deviceID: \"0000:3b:00.1\" differ: both must "
     "name the same device"},
    {"", R"("pf":"x")", 7, "pf: \"x" + kNoPciAddress},
    {"", R"("pf":{})", 7, "pf: expected a string, got an object"},
    {"", key(R"("pf":"0000:3b:00.1")"), 7,
     "master: ib0 belongs to 0000:3b:00.0, but pf is 0000:3b:00.1: remove one of the two"},
    // P_Keys
    {"", key(R"("pkey":"8001")"), 7,
     "pkey: \"8001\" is ambiguous: write \"0x8001\" for hexadecimal or \"0x1f41\" for decimal"},
    {"", key(R"("pkey":"blue")"), 7,
     "pkey: \"blue" + kNoKey + "; to name a partition, use \"partition\""},
    {"", key(R"("pkey":"0x8000")"), 7,
     "pkey: 0x8000 is not a partition: 0x0000 and 0x8000 mark free entries of a P_Key table"},
    {"", key(R"("pkey":65536)"), 7, "pkey: 65536 is not a P_Key: expected 1 to 65535"},
    {"", key(R"("pkey":true)"), 7, "pkey: expected a P_Key (\"0x8001\" or a number), got true"},
    // misspelled keys
    {"", key(R"("partitoin":"blue")"), 7, "partitoin: unknown key; did you mean \"partition\"?"},
    {"", key(R"("umcsat":true)"), 7, "umcsat: unknown key; did you mean \"umcast\"?"},
    {"", key(R"("args":{"cni":{"partitoin":"blue"}})"), 7,
     "args.cni.partitoin: unknown key; did you mean \"partition\"?"},
    // mode, umcast, MTU
    {"", key(R"("mode":"Connected")"), 7,
     "mode: expected datagram or connected, got \"Connected\""},
    {"", key(R"("mode":1)"), 7, "mode: expected a string, got the number 1"},
    {"", key(R"("umcast":1)"), 7, "umcast: expected true or false, got the number 1"},
    {"", key(R"("umcast":"yes")"), 7, "umcast: expected true or false, got the string \"yes\""},
    {"", key(R"("mtu":67)"), 7, "mtu: expected a whole number from 68 to 65520, got the number 67"},
    {"", key(R"("mtu":65521)"), 7,
     "mtu: expected a whole number from 68 to 65520, got the number 65521"},
    {"", key(R"("mtu":"2044")"), 7, "mtu: expected a whole number, got the string \"2044\""},
    {"", key(R"("mtu":4093)"), 7,
     "mtu: 4093 exceeds the limit of datagram mode (4092): set mode to connected, or a smaller "
     "mtu"},
    {"", key(R"("mtu":65520,"mode":"datagram")"), 7,
     "mtu: 65520 exceeds the limit of datagram mode (4092): set mode to connected, or a smaller "
     "mtu"},
    // keys that all plugins share
    {"", key(R"("timeoutSeconds":0)"), 7,
     "timeoutSeconds: expected a whole number from 1 to 110, got the number 0"},
    {"", key(R"("logFile":"log")"), 7,
     "logFile: expected an absolute path without \"..\", got \"log\""},
    {"", key(R"("ipam":{"type":"dhcp"})"), 2,
     "ipam.type: \"dhcp\" cannot serve InfiniBand: its daemon builds requests from 6-byte Ethernet "
     "addresses; use host-local, static, whereabouts or another one"},
    {"", key(R"("ipam":{"type":"../lease"})"), 7, "ipam.type: \"../lease\" is not a program name"},
    {"CNI_IFNAME", "eth0", 102, "CNI_IFNAME: the pod already has an interface eth0"},
    {"CNI_NETNS", "/run/netns/gone", 3,
     "CNI_NETNS: there is no network namespace at /run/netns/gone"},
    {"CNI_NETNS", "/proc/self/ns/net", 4,
     "CNI_NETNS: /proc/self/ns/net is the host's own network namespace: a pod with hostNetwork "
     "needs no attachment"},
};

TEST_CASE("bad input is refused with its code and its reason, and changes nothing") {
  MESSAGE(kBad.size() << " bad inputs");
  for (const attach::BadInput& bad : kBad) {
    Fixture fixture;
    fixture.k.add_netdev("", "eth7");
    fixture.k.add_child("", "ib0", "ib0.8005", ib::PKey(0x8005));
    fixture.before = fixture.k.state;
    expect_refused(fixture, bad, kMaster);
  }
}

}  // namespace
}  // namespace ibpod::ipoib
