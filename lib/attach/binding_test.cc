// Partitions by name: the pod is in them before its ADD ends, and out of them before another pod
// gets its device, whatever fails.
#include "lib/attach/binding.h"

#include "lib/attach/verbs.h"
#include "lib/cni/errors.h"
#include "lib/node/restore.h"
#include "tests/support/attach_fixture.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

int code_of(const Error& error) { return cni::failure_of(error).code; }

bool says(const Error& error, const std::string& text) {
  CAPTURE(error.text());
  return error.text().find(text) != std::string::npos;
}

struct InBlue : Fixture {
  InBlue() {
    vf_config.spec.partitions = {{"blue"}};
    vf_config.spec.guids.reset();
  }
  // True if no port has a key.
  bool no_keys() {
    const bool none =
        std::all_of(k.fabric.pkeys.begin(), k.fabric.pkeys.end(),
                    [](const auto& one) { return one.second == ib::PKeyTable{ib::PKey(0x7fff)}; });
    k.fabric.pkeys.clear();
    return none;
  }
  ib::Guid port() const { return vf_config.spec.guids.value_or(node::Guids{{}, kOwnPort}).port; }
  ib::PKeyTable table() const { return k.fabric.pkeys.at(port()); }
  static inline const ib::Guid kOwnPort = fake::vf_guid(0, 0);
};

// The pod requests a GUID.
struct RequestedGuidFixture : InBlue {
  RequestedGuidFixture() { vf_config.spec.guids = kSpecGuids; }
  // The number of times that the VF was given GUIDs.
  auto given() const { return std::count(k.trail().begin(), k.trail().end(), "set_vf_guids"); }
};

TEST_CASE_FIXTURE(InBlue, "a pod is in its partition when ADD ends, and out of it when DEL does") {
  const auto added = add();
  REQUIRE_MESSAGE(added.ok(), added.error().text());
  CHECK(table().front() == ib::PKey(0x8001));
  CHECK(check());
  CHECK(achievements ==
        std::vector<std::string>{"partition 0x8001 is verified: 0x8001, full member, at index 0"});
  REQUIRE(del());
  CHECK(table() == ib::PKeyTable{ib::PKey(0x7fff)});
  CHECK(no_keys());
  CHECK(leftovers() == "");
  CHECK(warnings.empty());
}

TEST_CASE_FIXTURE(InBlue, "several partitions: all are verified, and the first is IPoIB's") {
  vf_config.spec.partitions = {{"red"}, {"blue", "full"}};
  REQUIRE(add());
  CHECK(table() == ib::PKeyTable{ib::PKey(0x8002), ib::PKey(0x8001), ib::PKey(0x7fff)});
  CHECK(achievements.size() == 2);
  CHECK(check());
  binder.stuck = true;
  k.fabric.pkeys[port()] = {ib::PKey(0x8002)};
  CHECK(code_of(check().error()) == cni::kCheckFailed);
}

TEST_CASE_FIXTURE(InBlue, "where the agent binds, a P_Key is a partition like one that is named") {
  node::Spec& spec = vf_config.spec;
  const auto wants = [&](int pkey) {
    spec.partitions.clear();
    spec.pkey = ib::PKey(static_cast<uint16_t>(pkey));
    auto requested = to_partition_request(spec);
    if (requested) spec = *requested;
    return requested;
  };
  REQUIRE(wants(0x8001));
  CHECK(spec.partitions == std::vector<node::PartitionRequest>{{"", "full", ib::PKey(0x0001)}});
  REQUIRE(add());
  CHECK(table().front() == ib::PKey(0x8001));
  CHECK(check());
  REQUIRE(del());
  CHECK(no_keys());
  REQUIRE(wants(0x0001));
  CHECK(spec.partitions == std::vector<node::PartitionRequest>{{"", "", ib::PKey(0x0001)}});
  CHECK_FALSE(spec.pkey);
  CHECK(wants(0xffff).error().text() ==
        "pkey: 0xffff is the default partition, which has every port: set a partition from "
        "0x0001 to 0x7ffe");
  REQUIRE(wants(0x0005));
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(says(refused.error(), "partition 0x0005 is not for this namespace"));
  CHECK(leftovers() == "");
}

TEST_CASE_FIXTURE(InBlue, "an IPoIB child is made on the partition's key") {
  configure_child("ib0").spec.partitions = {{"blue"}};
  const auto added = add();
  REQUIRE_MESSAGE(added.ok(), added.error().text());
  const auto netdev = k.find_netdev(*k.find_namespace(kPod).value(), "net1").value();
  REQUIRE(netdev);
  CHECK(netdev->ipoib->pkey == ib::PKey(0x8001));
  CHECK(check());
  REQUIRE(del());
  CHECK(no_keys());
  CHECK(leftovers() == "");
}

// DEL has not found the child; the port has left the partition, and another partition has the key
// now.
TEST_CASE_FIXTURE(InBlue, "a P_Key that a hidden child may still be in serves no other partition") {
  configure_child("ib0").spec.partitions = {{"blue"}};
  REQUIRE(add());
  k.hide_namespace(kPod, fake::FakeNode::HeldBy::nothing_seen);
  k.make_namespace(kPod);
  CHECK(says(del().error(), "is still there, in an unreachable network namespace"));
  CHECK(no_keys());
  binder.partitions["green"] = ib::PKey(0x8001);
  set_call(cni::Verb::add, "c2", kPod);
  child->spec.partitions = {{"green"}};
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(code_of(refused.error()) == cni::kTryAgainLater);
  CHECK(says(refused.error(), "may still use the P_Key 0x8001 of ib0"));
  CHECK(no_keys());
  child->spec.partitions = {{"blue"}};
  CHECK(add());
}

TEST_CASE_FIXTURE(InBlue, "what the SM service refuses is ADD's error, and all is undone") {
  vf_config.spec.partitions = {{"green"}};
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(says(refused.error(), "partition green is not for this namespace"));
  CHECK(leftovers() == "");
}

TEST_CASE_FIXTURE(InBlue, "an agent that does not answer is error 11, and nothing is touched") {
  binder.away = Error(Code::unavailable, "the SM service is away");
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(code_of(refused.error()) == cni::kTryAgainLater);
  CHECK(says(refused.error(), "the SM service is away"));
  CHECK(leftovers() == "");
}

TEST_CASE_FIXTURE(RequestedGuidFixture,
                  "a VF has no GUID of the pod's choice before that is granted") {
  binder.taken = {kSpecGuids.port};
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(says(refused.error(), "cannot be chosen"));
  CHECK(given() == 0);
  CHECK(leftovers() == "");
  binder.taken.clear();
  binder.silent = true;
  const auto late = add();
  REQUIRE_FALSE(late);
  CHECK(code_of(late.error()) == cni::kTryAgainLater);
  CHECK(says(late.error(), "GUID " + kSpecGuids.port.text() + ": not granted yet: no answer yet"));
  CHECK(given() == 0);
  binder.silent = false;
  REQUIRE(add());
  CHECK(given() == 1);
  CHECK(table().front() == ib::PKey(0x8001));
}

TEST_CASE_FIXTURE(RequestedGuidFixture, "the device's lock is free while a GUID is not granted") {
  binder.silent = true;
  k.at_next_wait([&](fake::FakeKernel&) {
    CHECK(records.lock(kVf.text(), Deadline::in(Duration(0))));
    binder.silent = false;
  });
  REQUIRE(add());
  CHECK(given() == 1);
}

TEST_CASE_FIXTURE(RequestedGuidFixture, "a DEL while the GUID is not granted ends it") {
  binder.silent = true;
  k.at_next_wait([&](fake::FakeKernel&) {
    binder.silent = false;
    const cni::Call adds = call;
    CHECK(del());
    call = adds;
  });
  CHECK_FALSE(add());
  CHECK(given() == 0);
  CHECK(leftovers() == "");
}

TEST_CASE_FIXTURE(InBlue, "an agent without an SM service is told before anything is touched") {
  without_service = true;
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(
      says(refused.error(), "this node's agent has no SM service: configure it under \"fabrics\""));
  CHECK(leftovers() == "");
}

struct ForMachine : InBlue {
  ForMachine() {
    k.unbind(kVf);
    k.bind(kVf, "vfio-pci").value();
    remember();
    vf_config.spec.isolation = false;
  }
};

TEST_CASE_FIXTURE(ForMachine, "a device for a virtual machine is bound where the port shows it") {
  const auto added = add();
  REQUIRE(added);
  CHECK(added->unverified.empty());
  CHECK(table().front() == ib::PKey(0x8001));
  CHECK(warnings.empty());
  CHECK(check());
  binder.away = Error(Code::unavailable, "no route");
  CHECK(code_of(check().error()) == cni::kCheckFailed);
  binder.away.reset();
  REQUIRE(del());
  CHECK(no_keys());
  CHECK(leftovers() == "");
}

TEST_CASE_FIXTURE(ForMachine, "a device for a virtual machine has to be proved, or to need none") {
  binder.stuck = true;
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(code_of(refused.error()) == cni::kTryAgainLater);
  CHECK(says(refused.error(), "deviceID 0000:3b:00.1 is on vfio-pci"));
  CHECK(says(refused.error(), "partition blue: not verified"));
  binder.stuck = false;
  (void)del();
  binder.proof = "none";
  const auto unseen = add();
  REQUIRE(unseen);
  CHECK(unseen->unverified == std::vector<std::string>{"0x8001"});
  CHECK(warnings == std::vector<std::string>{"partition 0x8001 is not verified: a device on "
                                             "vfio-pci has no port on this node"});
  REQUIRE(del());
  CHECK(no_keys());
}

TEST_CASE_FIXTURE(ForMachine, "a word that is no proof is no leave to go without one, either") {
  for (const char* word : {"", "hearsay"}) {
    binder.proof = word;
    const auto refused = add();
    REQUIRE_FALSE(refused);
    CHECK(says(refused.error(), "partition blue: unexpected proof \"" + std::string(word) +
                                    "\" from the agent: expected port, node or none"));
  }
  CHECK(leftovers() == "");
}

TEST_CASE_FIXTURE(ForMachine,
                  "each of several partitions that are not seen in the table has a warning") {
  vf_config.spec.partitions = {{"red"}, {"blue", "full"}};
  binder.proof = "none";
  const auto added = add();
  REQUIRE(added);
  CHECK(added->unverified == std::vector<std::string>{"0x8002", "0x8001"});
  CHECK(warnings.size() == 2);
}

TEST_CASE_FIXTURE(InBlue,
                  "what a damaged record may have bound is ended before its device goes on") {
  REQUIRE(add());
  k.kill_namespace(kPod);
  REQUIRE(write_file_atomically(record_file(), "{"));
  needs_agent = true;
  set_call(cni::Verb::gc, "", "");
  binder.stuck = true;
  CHECK_FALSE(gc());
  CHECK(recorded().size() == 1);
  binder.stuck = false;
  CHECK(gc());
  CHECK(recorded().empty());
  CHECK(binder.leftovers() == "");
}

// DEL continues after the answer that the keys are gone.
TEST_CASE_FIXTURE(InBlue, "an attachment that is ending is not bound again") {
  REQUIRE(add());
  binder.stuck = true;
  REQUIRE(del());
  node::Record record = records.read(records.all().value().at(0)).value();
  record.stage = node::Stage::ending;
  REQUIRE(records.write(record));
  const auto late = await_binding(context(), record, Deadline::in(Duration(1'000)));
  REQUIRE_FALSE(late);
  CHECK(late.error().code() == Code::invalid);
}

TEST_CASE_FIXTURE(InBlue, "what becomes unreadable while it ends has not ended") {
  REQUIRE(add());
  binder.meanwhile = [&] { REQUIRE(write_file_atomically(record_file(), "{")); };
  CHECK_FALSE(del());
  CHECK(recorded().size() == 1);
}

TEST_CASE_FIXTURE(InBlue, "the details say that the SM service has not answered") {
  REQUIRE(add());
  const node::Record record = records.read(records.all().value().at(0)).value();
  binder.away = Error(Code::unavailable, "the SM service cannot be reached");
  const auto refused = await_binding(context(), record, Deadline::in(Duration(50)));
  REQUIRE_FALSE(refused);
  CHECK(says(refused.error(), "not verified: the SM service cannot be reached"));
  CHECK(refused.error().details() == "state not known: the SM service has not answered");
  binder.away.reset();
  REQUIRE(del());
}

TEST_CASE_FIXTURE(InBlue, "a port that is not verified is error 11 with the reason") {
  binder.stuck = true;
  const auto refused = add();
  REQUIRE_FALSE(refused);
  CHECK(code_of(refused.error()) == cni::kTryAgainLater);
  CHECK(says(refused.error(), "partition blue: not verified: the subnet manager has not swept"));
  CHECK(refused.error().details() == "state written, reason waiting");
  // The key may have come since: only the agent can find out.
  CHECK(recorded().size() == 1);
  binder.stuck = false;
  REQUIRE(del());
  CHECK(no_keys());
  CHECK(leftovers() == "");
}

// The device is back, its addresses are released, and no other pod gets the device.
TEST_CASE_FIXTURE(InBlue, "DEL succeeds while the key cannot leave, and the device waits") {
  vf_config.spec.guids.reset();
  REQUIRE(add());
  binder.stuck = true;
  REQUIRE(del());
  CHECK(leases().empty());
  REQUIRE(recorded().size() == 1);
  const node::Record record = records.read(records.all().value().at(0)).value();
  CHECK(record.stage == node::Stage::pkey_pending);
  CHECK(node::liveness(k, record, boot_id).value() == node::Liveness::dead);
  CHECK(warnings.back().find("the port does not answer") != std::string::npos);
  const size_t asked = ipam_calls().size();
  CHECK(del());
  CHECK(ipam_calls().size() == asked);
  set_call(cni::Verb::add, "c2", kPod);
  vf_config.spec.partitions.clear();
  const auto next = add();
  REQUIRE_FALSE(next);
  CHECK(code_of(next.error()) == cni::kTryAgainLater);
  binder.stuck = false;
  CHECK(add());
}

TEST_CASE_FIXTURE(RequestedGuidFixture,
                  "a port keeps the GUID that its key was given to until the key is gone") {
  REQUIRE(add());
  binder.stuck = true;
  REQUIRE(del());
  CHECK(k.fabric.pkeys.contains(kSpecGuids.port));
  CHECK(changes() != "");
  binder.stuck = false;
  REQUIRE(del());
  CHECK(no_keys());
  CHECK(leftovers() == "");
}

TEST_CASE_FIXTURE(RequestedGuidFixture,
                  "once the key is gone a VF that cannot be taken back is DEL's failure") {
  REQUIRE(add());
  binder.stuck = true;
  REQUIRE(del());
  binder.stuck = false;
  k.fail_from(0);
  CHECK_FALSE(del());
  CHECK(recorded().size() == 1);
  k.heal();
  REQUIRE(del());
  CHECK(no_keys());
  CHECK(leftovers() == "");
}

// The port is gone, and no other port gets that GUID before the service has released it.
TEST_CASE_FIXTURE(RequestedGuidFixture,
                  "a GUID of its own that went with a reboot keeps no device out of service") {
  REQUIRE(add());
  binder.stuck = true;
  std::erase_if(before.namespaces, [](const auto& one) { return one.second.path == kPod; });
  k.kill_namespace(kPod);
  REQUIRE(del());
  REQUIRE(recorded().size() == 1);
  boot_id = "next";
  k.state = before;
  CHECK(del());
  CHECK(recorded().empty());
}

TEST_CASE_FIXTURE(InBlue, "GC ends the binding of a pod that is gone, and only that") {
  REQUIRE(add());
  set_call(cni::Verb::gc, "", "");
  REQUIRE(gc());
  CHECK(binder.leftovers() != "");
  k.kill_namespace(kPod);
  REQUIRE(gc());
  CHECK(binder.leftovers() == "");
  CHECK(recorded().empty());
}

struct KilledProcess {
  bool in_del = false, after = false, by_gc = false;
  // True if question `number` was asked.
  bool at(InBlue& fixture, int number) const {
    if (in_del) REQUIRE(fixture.add());
    fixture.binder.kill_at = fixture.binder.calls + number;
    fixture.binder.kill_after = after;
    bool killed = false;
    try {
      if (in_del) CHECK(fixture.del());
      if (!in_del) CHECK(fixture.add());
    } catch (const fake::Killed&) {
      killed = true;
    }
    fixture.binder.kill_at.reset();
    return killed;
  }
  void expect_ended(InBlue& fixture) const {
    if (by_gc) {
      std::erase_if(fixture.before.namespaces,
                    [](const auto& one) { return one.second.path == kPod; });
      fixture.k.kill_namespace(kPod);
      fixture.set_call(cni::Verb::gc, "", "");
      CHECK(fixture.gc());
    } else {
      CHECK(fixture.del());
    }
    CHECK(fixture.no_keys());
    CHECK(fixture.leftovers() == "");
  }
};

// The process ends at each question of ADD, then of DEL.
template <typename Fixture>
int killed_around_every_question() {
  int points = 0;
  for (const bool in_del : {false, true})
    for (const bool after : {false, true})
      for (const bool by_gc : {false, true}) {
        const KilledProcess killed{in_del, after, by_gc};
        bool struck = true;
        for (int n = 0; struck; ++n, ++points) {
          CAPTURE(n);
          Fixture fixture;
          struck = killed.at(fixture, n);
          killed.expect_ended(fixture);
        }
      }
  return points;
}

TEST_CASE("killed around any question of the agent, DEL or GC ends it all") {
  CHECK(killed_around_every_question<InBlue>() >= 12);
  CHECK(killed_around_every_question<RequestedGuidFixture>() >= 16);
}

}  // namespace
}  // namespace ibpod::attach
