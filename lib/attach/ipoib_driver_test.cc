#include "lib/attach/ipoib_driver.h"

#include "lib/attach/release.h"
#include "lib/attach/test_loop.h"
#include "lib/attach/verbs.h"
#include "lib/cni/errors.h"
#include "lib/node/child.h"
#include "tests/support/attach_fixture.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};
const ib::PKey kBlue(0x8001);

// A node whose PF ib0 is a member of the partition, and a configuration of a child on it.
void set_up_child(Fixture& fixture) {
  fixture.configure_child("ib0").spec.pkey = kBlue;
  fixture.k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue};
  fixture.remember();
}
struct IpoibFixture : Fixture {
  explicit IpoibFixture(bool ipam = true) : Fixture(ipam) { set_up_child(*this); }
};

TEST_CASE("a pod gets a child of its own on the host's interface, and the answer tells of it") {
  IpoibFixture fixture;
  fixture.child->mode = nl::IpoibMode::connected;
  fixture.child->spec.mtu = 4000;
  const Result<cni::AddResult> added = fixture.add();
  REQUIRE(added);
  const fake::Interface& child = fixture.k.interface(kPod, "net1");
  CHECK(child.kind == "ipoib");
  CHECK(child.up);
  CHECK(child.pkey == kBlue);
  CHECK(child.mode == nl::IpoibMode::connected);
  CHECK(child.mtu == 4000);
  CHECK(child.umcast);
  CHECK(child.addresses.size() == 1);
  const cni::Interface& told = added->interfaces.at(0);
  CHECK(told.name == "net1");
  CHECK(told.mtu == 4000);
  CHECK(told.mac.size() == 20 * 3 - 1);
  CHECK(told.sandbox == kPod.string());
  CHECK(told.pci_id.empty());
  CHECK(fixture.achievements ==
        std::vector<std::string>{"partition 0x8001 is verified: 0x8001, full member, at index 1"});
  CHECK(fixture.check());
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
  CHECK(fixture.del());
}

TEST_CASE("an IPAM that fails keeps no child: only the address is owed") {
  IpoibFixture fixture;
  REQUIRE(fixture.add());
  fixture.install_ipam("[ $VERB = DEL ] && [ ! -e $HERE/well ] && exit 1");
  const std::string text = fixture.del().error().text();
  CHECK(text.find(" is removed, but the pod's address is not yet released at ipam lease") !=
        text.npos);
  CHECK(fixture.changes() == "");
  CHECK(fixture.recorded().empty());
  CHECK(fixture.owed() == std::vector<std::string>{"c1:net1"});
  fixture.programs.write("well", "");
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("without keys of its own the child has those of its master") {
  IpoibFixture fixture(false);
  fixture.child->spec.pkey.reset();
  fixture.k.interface("", "ib0").mode = nl::IpoibMode::connected;
  REQUIRE(fixture.add());
  CHECK(fixture.k.interface(kPod, "net1").pkey == ib::kDefaultFull);
  CHECK(fixture.k.interface(kPod, "net1").mode == nl::IpoibMode::connected);
}

TEST_CASE("where the agent binds, no pod is in its master's partition unless it asked for it") {
  IpoibFixture fixture(false);
  fixture.child->spec.pkey.reset();
  fixture.sm_managed = true;
  REQUIRE(fixture.add());
  REQUIRE(fixture.del());
  fixture.set_call(cni::Verb::add, "c1", kPod);
  fixture.k.fabric.pkeys[fake::pf_guid(0)] = {kBlue, ib::kDefaultFull};
  fixture.k.settle();
  const Error error = fixture.add().error();
  CHECK(cni::failure_of(error).code == cni::kInvalidConfiguration);
  CHECK(error.text().starts_with(
      "partition: the master ib0 is in 0x8001, and this node's agent requires"));
  CHECK(fixture.recorded().empty());
  fixture.child->spec.partitions = {{"blue"}};
  CHECK(fixture.add());
}

TEST_CASE("many pods share one master and one partition") {
  IpoibFixture fixture(false);
  std::vector<Path> pods;
  for (const char* name : {"a", "b", "c"}) {
    pods.push_back(Path("/run/netns") / name);
    fixture.k.make_namespace(pods.back());
  }
  fixture.remember();
  for (const Path& pod : pods) {
    fixture.set_call(cni::Verb::add, pod.filename(), pod);
    REQUIRE(fixture.add());
  }
  CHECK(fixture.recorded().size() == 3);
  for (const Path& pod : pods) {
    fixture.set_call(cni::Verb::del, pod.filename(), pod);
    REQUIRE(fixture.del());
  }
  CHECK(fixture.leftovers() == "");
}

struct Refusal {
  const char* name;
  std::function<void(Fixture&)> make;
  std::string text;
};

const std::vector<Refusal> kRefusals{
    {"no master", [](Fixture& b) { b.child->master = "ib9"; },
     "master: the host has no interface ib9"},
    {"no InfiniBand",
     [](Fixture& b) {
       b.k.add_netdev("", "eth7");
       b.child->master = "eth7";
     },
     "master: eth7 is not an InfiniBand interface"},
    {"a child",
     [](Fixture& b) {
       b.k.add_child("", "ib0", "ib0.8005", ib::PKey(0x8005));
       b.child->master = "ib0.8005";
     },
     "master: ib0.8005 is itself an IPoIB child: set master to its parent interface, and pkey to "
     "its partition"},
    {"two devices", [](Fixture& b) { b.child->device = kVf; },
     "master: ib0 belongs to 0000:3b:00.0, but pf is 0000:3b:00.1: remove one of the two"},
    {"no such device",
     [](Fixture& b) {
       b.child->master.clear();
       b.child->device = ib::PciAddress::parse("0000:99:00.0").value();
     },
     "the function 0000:99:00.0 has no IPoIB interface in the host's namespace: the function does "
     "not exist, a pod has it, or ib_ipoib is not loaded"},
    {"an MTU of a larger port",
     [](Fixture& b) {
       b.k.port_mtu = 2044;
       b.child->spec.mtu = 4000;
     },
     "mtu: 4000 exceeds the limit of datagram mode on the port of ib0 (2044): set mode to "
     "connected, "
     "or "
     "a smaller mtu"},
    {"an MTU of the other mode", [](Fixture& b) { b.child->spec.mtu = 9000; },
     "mtu: 9000 exceeds the limit of datagram mode (4092): set mode to connected, or a smaller "
     "mtu"},
};

TEST_CASE("what cannot be given is refused and changes nothing") {
  for (const Refusal& refusal : kRefusals) {
    CAPTURE(refusal.name);
    IpoibFixture fixture;
    refusal.make(fixture);
    fixture.remember();
    const Result<cni::AddResult> added = fixture.add();
    REQUIRE_FALSE(added);
    CHECK(added.error().text() == refusal.text);
    CHECK(fixture.leftovers() == "");
    CHECK(fixture.del());
    CHECK(fixture.leftovers() == "");
  }
}

TEST_CASE("a partition that the port is not in is waited for, and refused with the table") {
  IpoibFixture fixture;
  fixture.child->spec.pkey = ib::PKey(0x8002);
  const Error error = fixture.add().error();
  CHECK(
      error.text().starts_with("timed out waiting for P_Key 0x8002: the P_Key table of port GUID"));
  CHECK(error.details().find("0x8001") != std::string::npos);
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(fixture.leftovers() == "");
  fixture.k.at_next_wait([](fake::FakeKernel& k) {
    k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue, ib::PKey(0x8002)};
  });
  CHECK(fixture.add());
}

TEST_CASE("the child of a pod that has died ends with GC, whatever the pod has called it") {
  IpoibFixture fixture(false);
  REQUIRE(fixture.add());
  SUBCASE("as it was") {}
  SUBCASE("renamed, and without its alias") {
    fixture.k.interface(kPod, "net1").alias.clear();
    fixture.k.rename_netdev(kPod, "net1", "mine");
  }
  fixture.k.kill_namespace(kPod);
  fixture.before.namespaces.erase(2);
  fixture.set_call(cni::Verb::gc, "", "");
  REQUIRE(gc(fixture.context(), *fixture.driver(), Deadline::in(kLong)));
  CHECK(fixture.recorded().empty());
  for (const auto& [name, interface] : fixture.k.state.namespaces[fake::kHostId].interfaces) {
    CHECK_FALSE(interface.parent);
  }
}

TEST_CASE("an administrator's child is never touched") {
  IpoibFixture fixture(false);
  fixture.k.add_child("", "ib0", "ib0.8001", kBlue);
  fixture.remember();
  REQUIRE(fixture.add());
  REQUIRE(fixture.del());
  CHECK(fixture.leftovers() == "");
  CHECK(remove_stray_children(fixture.context()));
  CHECK(fixture.leftovers() == "");
}

// Two adapters with equal queue pair numbers, both in the partition.
struct TwoRails : Fixture {
  TwoRails() : Fixture(false) {
    k = fake::node_with(2, 1);
    k.state.namespaces[fake::kHostId].path = kOwn;
    k.make_namespace(kPod);
    set_up_child(*this);
    k.fabric.pkeys[fake::pf_guid(1)] = {ib::kDefaultFull, kBlue};
    remember();
  }
  Status add_on(const std::string& master, const std::string& ifname) {
    set_call(cni::Verb::add, "c1", kPod, ifname);
    child->master = master;
    child->spec.ifname = ifname;
    TRY(add());
    return ok();
  }
};

TEST_CASE(
    "a pod may have children on two adapters, with equal queue pairs: each DEL takes its own") {
  TwoRails fixture;
  REQUIRE(fixture.add_on("ib0", "net1"));
  REQUIRE(fixture.add_on("ib1", "net2"));
  CHECK(fixture.k.interface(kPod, "net1").qpn.value == fixture.k.interface(kPod, "net2").qpn.value);
  CHECK(fixture.check());
  CHECK(fixture.del());
  CHECK_FALSE(fixture.k.find_netdev(*fixture.k.find_namespace(kPod).value(), "net2").value());
  fixture.set_call(cni::Verb::check, "c1", kPod, "net1");
  fixture.child->spec.ifname = "net1";
  CHECK(fixture.check());
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("an administrator's child with the queue pair of a pod's stays, on the other adapter") {
  TwoRails fixture;
  fixture.k.add_child("", "ib1", "ibadmin", kBlue);
  fixture.remember();
  REQUIRE(fixture.add_on("ib0", "net1"));
  CHECK(fixture.k.interface(kPod, "net1").qpn.value ==
        fixture.k.interface("", "ibadmin").qpn.value);
  std::erase_if(fixture.before.namespaces,
                [](const auto& entry) { return entry.second.path == kPod; });
  fixture.k.kill_namespace(kPod);
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a pod that gives one interface the alias of another loses both, each by its own DEL") {
  TwoRails fixture;
  REQUIRE(fixture.add_on("ib0", "net1"));
  REQUIRE(fixture.add_on("ib1", "net2"));
  fake::Interface& first = fixture.k.interface(kPod, "net1");
  fixture.k.interface(kPod, "net2").alias = std::exchange(first.alias, "");
  fixture.set_call(cni::Verb::del, "c1", kPod, "net1");
  CHECK(fixture.del());
  CHECK(fixture.k.find_netdev(*fixture.k.find_namespace(kPod).value(), "net2").value());
  fixture.set_call(cni::Verb::del, "c1", kPod, "net2");
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("after a reboot a record takes nothing with it") {
  IpoibFixture fixture(false);
  REQUIRE(fixture.add());
  const uint32_t qpn = fixture.k.interface(kPod, "net1").qpn.value;
  fixture.boot_id = "next";
  fixture.k.state = fixture.before;
  fixture.k.add_child("", "ib0", "ibadmin", kBlue);
  fixture.k.interface("", "ibadmin").qpn.value = qpn;
  fixture.before = fixture.k.state;
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("DEL without a record leaves another one's interface alone") {
  IpoibFixture fixture(false);
  REQUIRE(fixture.add());
  fixture.set_call(cni::Verb::del, "late", kPod);
  CHECK(del(fixture.context(), node::child_link("late", "net1"), kLong));
  fixture.set_call(cni::Verb::check, "c1", kPod);
  CHECK(fixture.check());
}

TEST_CASE("a DEL that comes while the P_Key is waited for ends the attachment") {
  IpoibFixture fixture(false);
  fixture.child->spec.pkey = ib::PKey(0x8002);
  fixture.k.at_next_wait([&](fake::FakeKernel& k) {
    const cni::Call call = fixture.call;
    fixture.set_call(cni::Verb::del, "c1", "");
    CHECK(attach::del(fixture.context(), "", kLong));
    fixture.call = call;
    k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue, ib::PKey(0x8002)};
  });
  CHECK(fixture.add().error().text() == "the attachment was deleted while it was being made");
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a pod that ends while the P_Key is waited for is given nothing") {
  IpoibFixture fixture(false);
  fixture.child->spec.pkey = ib::PKey(0x8002);
  fixture.k.at_next_wait([&](fake::FakeKernel& k) {
    k.kill_namespace(kPod);
    k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue, ib::PKey(0x8002)};
  });
  std::erase_if(fixture.before.namespaces,
                [](const auto& entry) { return entry.second.path == kPod; });
  CHECK(cni::failure_of(fixture.add().error()).code == cni::kUnknownContainer);
  CHECK(fixture.leftovers() == "");
}

// A pod that moves its child to a namespace of its own and uses CAP_NET_ADMIN on it: new name, new
// index, no alias. `deeper` was the path of that namespace, which has none now.
struct HiddenChild : IpoibFixture {
  using Holder = fake::FakeNode::HeldBy;
  const Path deeper = "/run/netns/deeper";
  netns::Identity hidden;

  explicit HiddenChild(Holder holder, bool ipam = true) : IpoibFixture(ipam) {
    REQUIRE(add());
    hidden = k.make_namespace(deeper).identity;
    const auto from = *k.find_namespace(kPod).value();
    const auto to = *k.find_namespace(deeper).value();
    REQUIRE(k.move_netdev(from, child_in(kPod, "net1").index.value, to, "eth7"));
    child_in(deeper, "eth7").alias.clear();
    child_in(deeper, "eth7").index.value = nl::IfIndex{77};
    k.hide_namespace(deeper, holder);
  }
  fake::Interface& child_in(const Path& where, const std::string& name) {
    return k.interface(where, name);
  }
  // The difference from the original node, with the empty namespace that the pod has made.
  std::string left() {
    std::erase_if(k.state.namespaces,
                  [&](const auto& entry) { return entry.second.identity == hidden; });
    return leftovers();
  }
};
using Holder = HiddenChild::Holder;

TEST_CASE("DEL removes a child that its pod has taken to a namespace of a process") {
  for (const bool tells : {true, false}) {
    HiddenChild fixture(Holder::process);
    fixture.k.tells_queue_pairs = tells;
    CHECK(fixture.del());
    CHECK(fixture.left() == "");
  }
}

TEST_CASE("a child that cannot be found is not gone: DEL fails, record and address stay") {
  HiddenChild fixture(Holder::nothing_seen);
  const Error error = fixture.del().error();
  CHECK(error.text() ==
        "the IPoIB child of ib0 in the partition 0x8001 is still there, in an unreachable network "
        "namespace: end the pod's remaining processes, or reboot the node");
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(fixture.recorded().size() == 1);
  CHECK(fixture.records.read(fixture.records.all().value().front())->stage == node::Stage::ending);
  CHECK(fixture.leases().size() == 1);
  SUBCASE("until its namespace ends, and it comes home") {
    fixture.k.kill_namespace(fixture.hidden);
  }
  SUBCASE("until a process shows it") {
    for (auto& [id, known] : fixture.k.state.namespaces) known.found = true;
  }
  SUBCASE("until it is removed in there") {
    fixture.k.state.namespaces.rbegin()->second.interfaces.erase("eth7");
  }
  CHECK(fixture.del());
  CHECK(fixture.left() == "");
}

TEST_CASE("a child that comes home while DEL waits is removed by it") {
  HiddenChild fixture(Holder::nothing_seen);
  fixture.k.at_next_wait([&](fake::FakeKernel& k) { k.kill_namespace(fixture.hidden); });
  CHECK(fixture.del());
  CHECK(fixture.left() == "");
}

TEST_CASE("a child that its own pod has removed is gone, by the kernel's word or by no namespace") {
  for (const bool tells : {true, false}) {
    IpoibFixture fixture;
    REQUIRE(fixture.add());
    fixture.k.tells_queue_pairs = tells;
    fixture.k
        .remove_netdev(*fixture.k.find_namespace(kPod).value(),
                       fixture.k.interface(kPod, "net1").index.value)
        .value();
    const int waits = fixture.k.waits();
    CHECK(fixture.del());
    CHECK((fixture.k.waits() == waits) == tells);
    CHECK(fixture.leftovers() == "");
  }
}

TEST_CASE("where the kernel does not tell, a process that cannot be looked at may have the child") {
  IpoibFixture fixture;
  REQUIRE(fixture.add());
  fixture.k.tells_queue_pairs = false;
  fixture.k.gap = Error(Code::denied, "stat /proc/7/ns/net: Permission denied");
  fixture.k
      .remove_netdev(*fixture.k.find_namespace(kPod).value(),
                     fixture.k.interface(kPod, "net1").index.value)
      .value();
  CHECK(fixture.del().error().text().find("may be still there") != std::string::npos);
  fixture.k.gap.reset();
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a child has gone with its parent, wherever it was") {
  HiddenChild fixture(Holder::nothing_seen);
  SUBCASE("unbound") { fixture.k.unbind(fake::pf_address(0)); }
  SUBCASE("and bound again, with its queue pair in use by another") {
    fixture.k.unbind(fake::pf_address(0));
    REQUIRE(fixture.k.bind(fake::pf_address(0), "mlx5_core"));
  }
  CHECK(fixture.del());
  CHECK(fixture.recorded().empty());
}

TEST_CASE("wherever the DEL of a hidden child fails or dies, the next one removes it") {
  using Count = fake::FakeKernel::Count;
  int points = 0;
  for (bool more = true; more; ++points) {
    more = false;
    for (const Fault& fault : faults(points, Count::calls)) {
      HiddenChild fixture(Holder::process, false);
      fault(fixture.k);
      try {
        const Status deleted = fixture.del();
        CHECK((fixture.recorded().empty() == deleted.ok()));
      } catch (const fake::Killed&) {
      }
      more |= fixture.k.struck();
      fixture.k.heal();
      CHECK(fixture.del());
      CHECK(fixture.left() == "");
    }
  }
  CHECK(points > 8);
}

TEST_CASE("GC removes the hidden child of a pod that has died") {
  HiddenChild fixture(Holder::process, false);
  std::erase_if(fixture.before.namespaces,
                [](const auto& entry) { return entry.second.path == kPod; });
  fixture.k.kill_namespace(kPod);
  fixture.set_call(cni::Verb::gc, "", "");
  CHECK(gc(fixture.context(), *fixture.driver(), Deadline::in(kLong)));
  CHECK(fixture.left() == "");
}

TEST_CASE(
    "a child of ours that has lost its record is swept up, by whatever is left of its names") {
  IpoibFixture fixture(false);
  const std::string link = node::child_link("lost", "net1");
  fixture.k.add_child("", "ib0", "mine", kBlue);
  fake::Interface& lost = fixture.k.interface("", "mine");
  SUBCASE("its alias") { lost.alias = link; }
  SUBCASE("its index") { lost.index.value = node::choose_index(); }
  SUBCASE("its name") { fixture.k.rename_netdev("", "mine", link); }
  CHECK(node::stray_children(fixture.k, fixture.records)->size() == 1);
  CHECK(remove_stray_children(fixture.context()));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("a pod cannot hide its child behind the link of another record") {
  IpoibFixture fixture(false);
  const Path other = "/run/netns/other";
  fixture.k.make_namespace(other);
  REQUIRE(fixture.add());
  fixture.set_call(cni::Verb::add, "c2", other);
  REQUIRE(fixture.add());
  const std::string link = node::child_link("c2", "net1");
  fixture.k.interface(kPod, "net1").alias = link;
  fixture.k.rename_netdev(kPod, "net1", link);
  fixture.k.kill_namespace(kPod);
  SUBCASE("with its index: its own DEL finds it") {}
  SUBCASE("with another index: it is a stray") {
    fixture.k.interface("", link).index.value = nl::IfIndex{77};
    CHECK(node::stray_children(fixture.k, fixture.records)->size() == 1);
    CHECK(remove_stray_children(fixture.context()));
  }
  fixture.set_call(cni::Verb::del, "c1", "");
  CHECK(fixture.del());
  CHECK_FALSE(fixture.k.find_netdev(node::kHost, link).value());
  CHECK(fixture.k.interface(other, "net1").parent);
  CHECK(fixture.recorded().size() == 1);
}

TEST_CASE("a damaged record of a child stays while a namespace has the child") {
  IpoibFixture fixture(false);
  REQUIRE(fixture.add());
  const node::RecordName name = fixture.records.all().value().front();
  const Path file = fixture.state.path() / "attachments" / name.folder / "c1:net1.json";
  REQUIRE(write_file_atomically(file, "{}"));
  CHECK(release_damaged(fixture.context(), name, Deadline::in(kLong)).error().code() == Code::busy);
  CHECK(fixture.del());
  CHECK(fixture.recorded().size() == 1);
  CHECK(release_damaged(fixture.context(), name, Deadline::in(kLong)));
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("one that a record speaks of is no stray, readable or not") {
  IpoibFixture fixture(false);
  REQUIRE(fixture.add());
  fixture.k.interface(kPod, "net1").alias.clear();
  fixture.k.rename_netdev(kPod, "net1", "mine");
  fixture.k.kill_namespace(kPod);
  SUBCASE("by its queue pair") { fixture.k.interface("", "mine").index.value = nl::IfIndex{77}; }
  SUBCASE("by its index") {}
  SUBCASE("or may speak of") {
    const node::RecordName name = fixture.records.all().value().front();
    const Path file = fixture.state.path() / "attachments" / name.folder / "c1:net1.json";
    REQUIRE(write_file_atomically(file, "{}"));
  }
  CHECK(node::stray_children(fixture.k, fixture.records)->empty());
}

TEST_CASE("DEL without a record takes the child that its namespace has under the name") {
  IpoibFixture fixture(false);
  REQUIRE(fixture.add());
  REQUIRE(fixture.records.remove({node::child_link("c1", "net1"), "c1", "net1"}));
  CHECK(fixture.del());
  CHECK(fixture.leftovers() == "");
}

TEST_CASE("CHECK names what is not as ADD made it") {
  IpoibFixture fixture;
  REQUIRE(fixture.add());
  fake::Interface& child = fixture.k.interface(kPod, "net1");
  std::string text;
  SUBCASE("down") {
    child.up = false;
    text = "net1 is down";
  }
  SUBCASE("the mode") {
    child.mode = nl::IpoibMode::connected;
    text = "net1 is not in the IPoIB mode that ADD set";
  }
  SUBCASE("the name") {
    fixture.k.rename_netdev(kPod, "net1", "other");
    text = "the interface is called other instead of net1";
  }
  SUBCASE("carrier") {
    child.joined.value = false;
    text = "net1 has no carrier";
  }
  SUBCASE("the partition") {
    fixture.k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull};
    fixture.k.settle();
    text = "net1 has no carrier";
  }
  SUBCASE("gone") {
    fixture.k.remove_netdev(*fixture.k.find_namespace(kPod).value(), child.index.value).value();
    text = "the IPoIB child of ib0 is not in the pod";
  }
  const Error error = fixture.check().error();
  CHECK(error.text() == text);
  CHECK(cni::failure_of(error).code == cni::kCheckFailed);
}

TEST_CASE("wherever ADD or DEL of a child fails or dies, DEL or GC leaves all as before") {
  int points = 0;
  for (const bool ipam : {false, true}) {
    points += loop_over(fake::FakeKernel::Count::orders, ipam, [](Fixture& fixture) {
      set_up_child(fixture);
      fixture.child->mode = nl::IpoibMode::connected;
      fixture.child->spec.mtu = 4000;
    });
  }
  CHECK(points > 180);
}

}  // namespace
}  // namespace ibpod::attach
