#include "lib/attach/ipoib_driver.h"

#include "lib/attach/gc.h"
#include "lib/attach/release.h"
#include "lib/attach/test_loop.h"
#include "lib/cni/errors.h"
#include "lib/node/child.h"
#include "lib/node/stray_children.h"
#include "tests/support/attach_fixture.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

constexpr Duration kLong{60'000};
const ib::PKey kBlue(0x8001);

// A node whose PF ib0 is a member of the partition, and an order for a child on it.
void want_child(Bed& bed) {
  bed.order_child("ib0").wanted.pkey = kBlue;
  bed.k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue};
  bed.remember();
}
struct ChildBed : Bed {
  explicit ChildBed(bool ipam = true) : Bed(ipam) { want_child(*this); }
};

TEST_CASE("a pod gets a child of its own on the host's interface, and the answer tells of it") {
  ChildBed bed;
  bed.child->mode = nl::IpoibMode::connected;
  bed.child->wanted.mtu = 4000;
  const Result<cni::AddResult> added = bed.add();
  REQUIRE(added);
  const fake::Interface& child = bed.k.interface(kPod, "net1");
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
  CHECK(bed.news ==
        std::vector<std::string>{"partition 0x8001 is verified: 0x8001, full member, at index 1"});
  CHECK(bed.check());
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
  CHECK(bed.del());
}

TEST_CASE("an IPAM that fails keeps no child: only the address is owed") {
  ChildBed bed;
  REQUIRE(bed.add());
  bed.install_ipam("[ $VERB = DEL ] && [ ! -e $HERE/well ] && exit 1");
  const std::string text = bed.del().error().text();
  CHECK(text.find(" is removed, but the pod's address is still owed to ipam lease") != text.npos);
  CHECK(bed.changes() == "");
  CHECK(bed.recorded().empty());
  CHECK(bed.owed() == std::vector<std::string>{"c1:net1"});
  bed.programs.write("well", "");
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("without keys of its own the child has those of its master") {
  ChildBed bed(false);
  bed.child->wanted.pkey.reset();
  bed.k.interface("", "ib0").mode = nl::IpoibMode::connected;
  REQUIRE(bed.add());
  CHECK(bed.k.interface(kPod, "net1").pkey == ib::kDefaultFull);
  CHECK(bed.k.interface(kPod, "net1").mode == nl::IpoibMode::connected);
}

TEST_CASE("where the agent binds, nobody is in its master's partition without having asked") {
  ChildBed bed(false);
  bed.child->wanted.pkey.reset();
  bed.binds = true;
  REQUIRE(bed.add());
  REQUIRE(bed.del());
  bed.be(cni::Verb::add, "c1", kPod);
  bed.k.fabric.pkeys[fake::pf_guid(0)] = {kBlue, ib::kDefaultFull};
  bed.k.settle();
  const Error error = bed.add().error();
  CHECK(cni::failure_of(error).code == cni::kInvalidConfiguration);
  CHECK(error.text().starts_with("partition: ib0 is itself in 0x8001, and this node's agent lets"));
  CHECK(bed.recorded().empty());
  bed.child->wanted.partitions = {{"blue"}};
  CHECK(bed.add());
}

TEST_CASE("many pods share one master and one partition") {
  ChildBed bed(false);
  std::vector<Path> pods;
  for (const char* name : {"a", "b", "c"}) {
    pods.push_back(Path("/run/netns") / name);
    bed.k.make_namespace(pods.back());
  }
  bed.remember();
  for (const Path& pod : pods) {
    bed.be(cni::Verb::add, pod.filename(), pod);
    REQUIRE(bed.add());
  }
  CHECK(bed.recorded().size() == 3);
  for (const Path& pod : pods) {
    bed.be(cni::Verb::del, pod.filename(), pod);
    REQUIRE(bed.del());
  }
  CHECK(bed.leftovers() == "");
}

struct Refusal {
  const char* name;
  std::function<void(Bed&)> make;
  std::string text;
};

const std::vector<Refusal> kRefusals{
    {"no master", [](Bed& b) { b.child->master = "ib9"; }, "master: the host has no interface ib9"},
    {"no InfiniBand",
     [](Bed& b) {
       b.k.add_netdev("", "eth7");
       b.child->master = "eth7";
     },
     "master: eth7 is no InfiniBand interface"},
    {"a child",
     [](Bed& b) {
       b.k.add_child("", "ib0", "ib0.8005", ib::PKey(0x8005));
       b.child->master = "ib0.8005";
     },
     "master: ib0.8005 is an IPoIB child itself: name the interface that it is made on, and ask "
     "for its partition with pkey"},
    {"two devices", [](Bed& b) { b.child->device = kVf; },
     "master: ib0 belongs to 0000:3b:00.0, and pf is 0000:3b:00.1: which one is meant?"},
    {"no such device",
     [](Bed& b) {
       b.child->master.clear();
       b.child->device = ib::PciAddress::parse("0000:99:00.0").value();
     },
     "the function 0000:99:00.0: it has no IPoIB interface in the host's namespace: there is no "
     "such "
     "function, a pod has it, or ib_ipoib is not loaded"},
    {"an MTU of a larger port",
     [](Bed& b) {
       b.k.port_mtu = 2044;
       b.child->wanted.mtu = 4000;
     },
     "mtu: 4000 is more than the 2044 of datagram mode on the port of ib0: set mode to connected, "
     "or "
     "a smaller mtu"},
    {"an MTU of the other mode", [](Bed& b) { b.child->wanted.mtu = 9000; },
     "mtu: 9000 is more than the 4092 of datagram mode: set mode to connected, or a smaller mtu"},
};

TEST_CASE("what cannot be given is refused and changes nothing") {
  for (const Refusal& refusal : kRefusals) {
    CAPTURE(refusal.name);
    ChildBed bed;
    refusal.make(bed);
    bed.remember();
    const Result<cni::AddResult> added = bed.add();
    REQUIRE_FALSE(added);
    CHECK(added.error().text() == refusal.text);
    CHECK(bed.leftovers() == "");
    CHECK(bed.del());
    CHECK(bed.leftovers() == "");
  }
}

TEST_CASE("a partition that the port is not in is waited for, and refused with the table") {
  ChildBed bed;
  bed.child->wanted.pkey = ib::PKey(0x8002);
  const Error error = bed.add().error();
  CHECK(error.text().starts_with("partition 0x8002 is not there: the port's P_Key table"));
  CHECK(error.details().find("0x8001") != std::string::npos);
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(bed.leftovers() == "");
  bed.k.at_next_wait([](fake::FakeKernel& k) {
    k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue, ib::PKey(0x8002)};
  });
  CHECK(bed.add());
}

TEST_CASE("the child of a pod that has died ends with GC, whatever the pod has called it") {
  ChildBed bed(false);
  REQUIRE(bed.add());
  SUBCASE("as it was") {}
  SUBCASE("renamed, and without its alias") {
    bed.k.interface(kPod, "net1").alias.clear();
    bed.k.rename_netdev(kPod, "net1", "mine");
  }
  bed.k.kill_namespace(kPod);
  bed.before.namespaces.erase(2);
  bed.be(cni::Verb::gc, "", "");
  REQUIRE(gc(bed.context(), Deadline::in(kLong)));
  CHECK(bed.recorded().empty());
  for (const auto& [name, interface] : bed.k.state.namespaces[fake::kHostId].interfaces) {
    CHECK_FALSE(interface.parent);
  }
}

TEST_CASE("an administrator's child is never touched") {
  ChildBed bed(false);
  bed.k.add_child("", "ib0", "ib0.8001", kBlue);
  bed.remember();
  REQUIRE(bed.add());
  REQUIRE(bed.del());
  CHECK(bed.leftovers() == "");
  CHECK(remove_stray_children(bed.context()));
  CHECK(bed.leftovers() == "");
}

// Two adapters that count their queue pairs alike, both in the partition.
struct TwoRails : Bed {
  TwoRails() : Bed(false) {
    k = fake::node_with(2, 1);
    k.state.namespaces[fake::kHostId].path = kOwn;
    k.make_namespace(kPod);
    want_child(*this);
    k.fabric.pkeys[fake::pf_guid(1)] = {ib::kDefaultFull, kBlue};
    remember();
  }
  Status add_on(const std::string& master, const std::string& ifname) {
    be(cni::Verb::add, "c1", kPod, ifname);
    child->master = master;
    child->wanted.ifname = ifname;
    TRY(add());
    return ok();
  }
};

TEST_CASE(
    "a pod may have children on two adapters, with equal queue pairs: each DEL takes its own") {
  TwoRails bed;
  REQUIRE(bed.add_on("ib0", "net1"));
  REQUIRE(bed.add_on("ib1", "net2"));
  CHECK(bed.k.interface(kPod, "net1").qpn.value == bed.k.interface(kPod, "net2").qpn.value);
  CHECK(bed.check());
  CHECK(bed.del());
  CHECK_FALSE(bed.k.find_netdev(*bed.k.find_namespace(kPod).value(), "net2").value());
  bed.be(cni::Verb::check, "c1", kPod, "net1");
  bed.child->wanted.ifname = "net1";
  CHECK(bed.check());
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("an administrator's child with the queue pair of a pod's stays, on the other adapter") {
  TwoRails bed;
  bed.k.add_child("", "ib1", "ibadmin", kBlue);
  bed.remember();
  REQUIRE(bed.add_on("ib0", "net1"));
  CHECK(bed.k.interface(kPod, "net1").qpn.value == bed.k.interface("", "ibadmin").qpn.value);
  std::erase_if(bed.before.namespaces, [](const auto& entry) { return entry.second.path == kPod; });
  bed.k.kill_namespace(kPod);
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a pod that gives one interface the alias of another loses both, each by its own DEL") {
  TwoRails bed;
  REQUIRE(bed.add_on("ib0", "net1"));
  REQUIRE(bed.add_on("ib1", "net2"));
  fake::Interface& first = bed.k.interface(kPod, "net1");
  bed.k.interface(kPod, "net2").alias = std::exchange(first.alias, "");
  bed.be(cni::Verb::del, "c1", kPod, "net1");
  CHECK(bed.del());
  CHECK(bed.k.find_netdev(*bed.k.find_namespace(kPod).value(), "net2").value());
  bed.be(cni::Verb::del, "c1", kPod, "net2");
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("after a reboot a record takes nothing with it") {
  ChildBed bed(false);
  REQUIRE(bed.add());
  const uint32_t qpn = bed.k.interface(kPod, "net1").qpn.value;
  bed.boot_id = "next";
  bed.k.state = bed.before;
  bed.k.add_child("", "ib0", "ibadmin", kBlue);
  bed.k.interface("", "ibadmin").qpn.value = qpn;
  bed.before = bed.k.state;
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("DEL without a record leaves another one's interface alone") {
  ChildBed bed(false);
  REQUIRE(bed.add());
  bed.be(cni::Verb::del, "late", kPod);
  CHECK(del(bed.context(), node::child_link("late", "net1"), kLong));
  bed.be(cni::Verb::check, "c1", kPod);
  CHECK(bed.check());
}

TEST_CASE("a DEL that comes while the P_Key is waited for ends the attachment") {
  ChildBed bed(false);
  bed.child->wanted.pkey = ib::PKey(0x8002);
  bed.k.at_next_wait([&](fake::FakeKernel& k) {
    const cni::Call call = bed.call;
    bed.be(cni::Verb::del, "c1", "");
    CHECK(attach::del(bed.context(), "", kLong));
    bed.call = call;
    k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue, ib::PKey(0x8002)};
  });
  CHECK(bed.add().error().text() == "the attachment was deleted while it was being made");
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a pod that ends while the P_Key is waited for is given nothing") {
  ChildBed bed(false);
  bed.child->wanted.pkey = ib::PKey(0x8002);
  bed.k.at_next_wait([&](fake::FakeKernel& k) {
    k.kill_namespace(kPod);
    k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull, kBlue, ib::PKey(0x8002)};
  });
  std::erase_if(bed.before.namespaces, [](const auto& entry) { return entry.second.path == kPod; });
  CHECK(cni::failure_of(bed.add().error()).code == cni::kUnknownContainer);
  CHECK(bed.leftovers() == "");
}

// A pod that takes its child to a namespace of its own and does to it what CAP_NET_ADMIN may: move,
// rename, another index, no alias. The path of the hidden namespace, which has none any more.
struct HiddenChild : ChildBed {
  using Holder = fake::FakeNode::HeldBy;
  const Path deeper = "/run/netns/deeper";
  netns::Identity hidden;

  explicit HiddenChild(Holder holder, bool ipam = true) : ChildBed(ipam) {
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
  // Of the node as it was before, with the empty namespace that the pod has made.
  std::string left() {
    std::erase_if(k.state.namespaces,
                  [&](const auto& entry) { return entry.second.identity == hidden; });
    return leftovers();
  }
};
using Holder = HiddenChild::Holder;

TEST_CASE("DEL removes a child that its pod has taken to a namespace of a process") {
  for (const bool tells : {true, false}) {
    HiddenChild bed(Holder::process);
    bed.k.tells_queue_pairs = tells;
    CHECK(bed.del());
    CHECK(bed.left() == "");
  }
}

TEST_CASE("a child that cannot be found is not gone: DEL fails, record and address stay") {
  HiddenChild bed(Holder::nothing_seen);
  const Error error = bed.del().error();
  CHECK(error.text() ==
        "the IPoIB child of ib0 in the partition 0x8001 is still there, in a network namespace "
        "that nothing leads to: end the processes that the pod has left, or restart the node");
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(bed.recorded().size() == 1);
  CHECK(bed.records.read(bed.records.all().value().front())->stage == node::Stage::ending);
  CHECK(bed.leases().size() == 1);
  SUBCASE("until its namespace ends, and it comes home") { bed.k.kill_namespace(bed.hidden); }
  SUBCASE("until a process shows it") {
    for (auto& [id, known] : bed.k.state.namespaces) known.found = true;
  }
  SUBCASE("until it is removed in there") {
    bed.k.state.namespaces.rbegin()->second.interfaces.erase("eth7");
  }
  CHECK(bed.del());
  CHECK(bed.left() == "");
}

TEST_CASE("a child that comes home while DEL waits is removed by it") {
  HiddenChild bed(Holder::nothing_seen);
  bed.k.at_next_wait([&](fake::FakeKernel& k) { k.kill_namespace(bed.hidden); });
  CHECK(bed.del());
  CHECK(bed.left() == "");
}

TEST_CASE("a child that its own pod has removed is gone, by the kernel's word or by no namespace") {
  for (const bool tells : {true, false}) {
    ChildBed bed;
    REQUIRE(bed.add());
    bed.k.tells_queue_pairs = tells;
    bed.k
        .remove_netdev(*bed.k.find_namespace(kPod).value(),
                       bed.k.interface(kPod, "net1").index.value)
        .value();
    const int waits = bed.k.waits();
    CHECK(bed.del());
    CHECK((bed.k.waits() == waits) == tells);
    CHECK(bed.leftovers() == "");
  }
}

TEST_CASE("where the kernel does not tell, a process that cannot be looked at may have the child") {
  ChildBed bed;
  REQUIRE(bed.add());
  bed.k.tells_queue_pairs = false;
  bed.k.gap = Error(Code::denied, "stat /proc/7/ns/net: Permission denied");
  bed.k
      .remove_netdev(*bed.k.find_namespace(kPod).value(), bed.k.interface(kPod, "net1").index.value)
      .value();
  CHECK(bed.del().error().text().find("may be still there") != std::string::npos);
  bed.k.gap.reset();
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a child has gone with its parent, wherever it was") {
  HiddenChild bed(Holder::nothing_seen);
  SUBCASE("unbound") { bed.k.unbind(fake::pf_address(0)); }
  SUBCASE("and bound again, with its queue pair in use by another") {
    bed.k.unbind(fake::pf_address(0));
    REQUIRE(bed.k.bind(fake::pf_address(0), "mlx5_core"));
  }
  CHECK(bed.del());
  CHECK(bed.recorded().empty());
}

TEST_CASE("wherever the DEL of a hidden child fails or dies, the next one removes it") {
  using Count = fake::FakeKernel::Count;
  int points = 0;
  for (bool more = true; more; ++points) {
    more = false;
    for (const Fault& fault : faults(points, Count::calls)) {
      HiddenChild bed(Holder::process, false);
      fault(bed.k);
      try {
        const Status deleted = bed.del();
        CHECK((bed.recorded().empty() == deleted.ok()));
      } catch (const fake::Killed&) {
      }
      more |= bed.k.struck();
      bed.k.heal();
      CHECK(bed.del());
      CHECK(bed.left() == "");
    }
  }
  CHECK(points > 8);
}

TEST_CASE("GC removes the hidden child of a pod that has died") {
  HiddenChild bed(Holder::process, false);
  std::erase_if(bed.before.namespaces, [](const auto& entry) { return entry.second.path == kPod; });
  bed.k.kill_namespace(kPod);
  bed.be(cni::Verb::gc, "", "");
  CHECK(gc(bed.context(), Deadline::in(kLong)));
  CHECK(bed.left() == "");
}

TEST_CASE(
    "a child of ours that has lost its record is swept up, by whatever is left of its names") {
  ChildBed bed(false);
  const std::string link = node::child_link("lost", "net1");
  bed.k.add_child("", "ib0", "mine", kBlue);
  fake::Interface& lost = bed.k.interface("", "mine");
  SUBCASE("its alias") { lost.alias = link; }
  SUBCASE("its index") { lost.index.value = node::choose_index(); }
  SUBCASE("its name") { bed.k.rename_netdev("", "mine", link); }
  CHECK(node::stray_children(bed.k, bed.records)->size() == 1);
  CHECK(remove_stray_children(bed.context()));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("a pod cannot hide its child behind the link of another record") {
  ChildBed bed(false);
  const Path other = "/run/netns/other";
  bed.k.make_namespace(other);
  REQUIRE(bed.add());
  bed.be(cni::Verb::add, "c2", other);
  REQUIRE(bed.add());
  const std::string link = node::child_link("c2", "net1");
  bed.k.interface(kPod, "net1").alias = link;
  bed.k.rename_netdev(kPod, "net1", link);
  bed.k.kill_namespace(kPod);
  SUBCASE("with its index: its own DEL finds it") {}
  SUBCASE("with another index: it is a stray") {
    bed.k.interface("", link).index.value = nl::IfIndex{77};
    CHECK(node::stray_children(bed.k, bed.records)->size() == 1);
    CHECK(remove_stray_children(bed.context()));
  }
  bed.be(cni::Verb::del, "c1", "");
  CHECK(bed.del());
  CHECK_FALSE(bed.k.find_netdev(node::kHost, link).value());
  CHECK(bed.k.interface(other, "net1").parent);
  CHECK(bed.recorded().size() == 1);
}

TEST_CASE("a damaged record of a child stays while a namespace has the child") {
  ChildBed bed(false);
  REQUIRE(bed.add());
  const node::RecordName name = bed.records.all().value().front();
  const Path file = bed.state.path() / "attachments" / name.folder / "c1:net1.json";
  REQUIRE(write_file_atomically(file, "{}"));
  CHECK(release_damaged(bed.context(), name, Deadline::in(kLong)).error().code() == Code::busy);
  CHECK(bed.del());
  CHECK(bed.recorded().size() == 1);
  CHECK(release_damaged(bed.context(), name, Deadline::in(kLong)));
  CHECK(bed.leftovers() == "");
}

TEST_CASE("one that a record speaks of is no stray, readable or not") {
  ChildBed bed(false);
  REQUIRE(bed.add());
  bed.k.interface(kPod, "net1").alias.clear();
  bed.k.rename_netdev(kPod, "net1", "mine");
  bed.k.kill_namespace(kPod);
  SUBCASE("by its queue pair") { bed.k.interface("", "mine").index.value = nl::IfIndex{77}; }
  SUBCASE("by its index") {}
  SUBCASE("or may speak of") {
    const node::RecordName name = bed.records.all().value().front();
    const Path file = bed.state.path() / "attachments" / name.folder / "c1:net1.json";
    REQUIRE(write_file_atomically(file, "{}"));
  }
  CHECK(node::stray_children(bed.k, bed.records)->empty());
}

TEST_CASE("DEL without a record takes the child that its namespace has under the name") {
  ChildBed bed(false);
  REQUIRE(bed.add());
  REQUIRE(bed.records.remove({node::child_link("c1", "net1"), "c1", "net1"}));
  CHECK(bed.del());
  CHECK(bed.leftovers() == "");
}

TEST_CASE("CHECK names what is not as ADD made it") {
  ChildBed bed;
  REQUIRE(bed.add());
  fake::Interface& child = bed.k.interface(kPod, "net1");
  std::string text;
  SUBCASE("down") {
    child.up = false;
    text = "net1 is down";
  }
  SUBCASE("the mode") {
    child.mode = nl::IpoibMode::connected;
    text = "net1 is in another IPoIB mode than ADD has set";
  }
  SUBCASE("the name") {
    bed.k.rename_netdev(kPod, "net1", "other");
    text = "the interface is called other instead of net1";
  }
  SUBCASE("carrier") {
    child.joined.value = false;
    text = "net1 has no carrier";
  }
  SUBCASE("the partition") {
    bed.k.fabric.pkeys[fake::pf_guid(0)] = {ib::kDefaultFull};
    bed.k.settle();
    text = "net1 has no carrier";
  }
  SUBCASE("gone") {
    bed.k.remove_netdev(*bed.k.find_namespace(kPod).value(), child.index.value).value();
    text = "the IPoIB child of ib0 is not in the pod";
  }
  const Error error = bed.check().error();
  CHECK(error.text() == text);
  CHECK(cni::failure_of(error).code == cni::kCheckFailed);
}

TEST_CASE("wherever ADD or DEL of a child fails or dies, DEL or GC leaves all as before") {
  int points = 0;
  for (const bool ipam : {false, true}) {
    points += loop_over(fake::FakeKernel::Count::orders, ipam, [](Bed& bed) {
      want_child(bed);
      bed.child->mode = nl::IpoibMode::connected;
      bed.child->wanted.mtu = 4000;
    });
  }
  CHECK(points > 180);
}

}  // namespace
}  // namespace ibpod::attach
