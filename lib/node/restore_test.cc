// Giving and restoring leave the node as it was. What "as it was" means is fake_state's comparison:
// of an IPoIB hardware address only the GID counts, indexes are left out, the GUIDs 0 and all-ones
// both read as none (its tests are in tests/support).
#include "lib/node/restore.h"

#include "lib/node/test_vf.h"

#include <functional>

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

const KernelVariant kIsolated = kernel_variants().front();
const KernelVariant kShared = kernel_variants()[2];
const Path kElsewhere = "/run/netns/elsewhere";

// Actions of a pod, its runtime or an administrator meanwhile.
struct PodAction {
  const char* name;
  std::function<void(AttachmentFixture&)> act;
};

Netdev inside(AttachmentFixture& a) { return *own_netdev(a.k, a.record.netns, kVf).value(); }

void change(AttachmentFixture& a, const NetdevChange& what) {
  a.k.change_netdev(a.record.netns, inside(a).index, {.up = false}).value();
  a.k.change_netdev(a.record.netns, inside(a).index, what).value();
}

int id_of(const fake::State& state, const Path& path) {
  for (const auto& [id, where] : state.namespaces) {
    if (where.path == path) return id;
  }
  std::abort();
}

void kill(AttachmentFixture& a) {
  a.before.namespaces.erase(id_of(a.before, kPod));
  a.k.kill_namespace(kPod);
}

void hide(AttachmentFixture& a) {
  a.before.namespaces[id_of(a.before, kPod)].path.reset();
  a.k.hide_namespace(kPod);
}

void replace(AttachmentFixture& a) {
  hide(a);
  a.k.make_namespace(kPod);
  a.before.namespaces[id_of(a.k.state, kPod)] = a.k.state.namespaces[id_of(a.k.state, kPod)];
}

void move_on(AttachmentFixture& a) {
  const Namespace elsewhere = *a.k.find_namespace(kElsewhere).value();
  if (a.record.spec.isolation) {
    a.k.move_rdma(a.record.netns, a.k.rdma_devices(a.record.netns, kVf).value().front().name,
                  elsewhere)
        .value();
  }
  const auto netdev = own_netdev(a.k, a.record.netns, kVf).value();
  if (netdev) a.k.move_netdev(a.record.netns, netdev->index, elsewhere, "mine").value();
}

Guids pf_guids_of(fake::FakeKernel& k) {
  const nl::VfSettings settings = k.vf_settings(*k.function(kVf).value()).value();
  return {settings.node_guid, settings.port_guid};
}

void make_children(AttachmentFixture& a) {
  a.k.add_child(kPod, "net1", "kid", ib::PKey(0x8005));
  a.k.add_child(kPod, "net1", "ib0.8006", ib::PKey(0x8006));
}

// The interface comes home as it was where its RDMA device has never left: with such a child the
// pod would go on over the next one's port.
void hide_child(AttachmentFixture& a) {
  make_children(a);
  const Namespace elsewhere = *a.k.find_namespace(kElsewhere).value();
  a.k.move_netdev(a.record.netns, a.k.interface(kPod, "kid").index.value, elsewhere, "mine")
      .value();
}

const std::vector<PodAction> kPodActions{
    {"nothing", [](AttachmentFixture&) {}},
    {"the namespace died", kill},
    {"the namespace lives on without a path", hide},
    {"another namespace has the path", replace},
    {"the pod renamed its interface", [](AttachmentFixture& a) { change(a, {.name = "mine"}); }},
    {"the pod gave it the name of a host's",
     [](AttachmentFixture& a) { change(a, {.name = "ib0"}); }},
    {"the pod gave it an altname of the host's",
     [](AttachmentFixture& a) {
       change(a, {.altnames = std::vector<std::string>{"ib0", "ib3"}});
     }},
    {"the pod gave it its own old name as altname",
     [](AttachmentFixture& a) {
       change(a, {.altnames = std::vector<std::string>{a.record.original.netdev->name}});
     }},
    {"the pod moved all into another namespace", move_on},
    {"the pod made children", make_children},
    {"the pod made children and hid one", hide_child},
    {"the pod hid one, and the kernel does not tell",
     [](AttachmentFixture& a) {
       hide_child(a);
       a.k.tells_queue_pairs = false;
     }},
    {"the pod made children and died",
     [](AttachmentFixture& a) {
       make_children(a);
       kill(a);
     }},
    {"the pod changed mode, umcast and MTU",
     [](AttachmentFixture& a) {
       change(a, {.mtu = 60000, .mode = nl::IpoibMode::connected, .umcast = true, .up = true});
     }},
    {"the pod changed the mode and died",
     [](AttachmentFixture& a) {
       change(a, {.mode = nl::IpoibMode::connected, .umcast = true});
       kill(a);
     }},
    {"the pod set it down", [](AttachmentFixture& a) { change(a, {}); }},
    {"the pod set addresses and routes",
     [](AttachmentFixture& a) {
       const Addressing all{{ip::Prefix::parse("10.1.2.3/24").value()}, {}};
       a.k.configure(a.record.netns, inside(a).index, all, kSoon).value();
     }},
    {"the VF was unbound", [](AttachmentFixture& a) { a.k.unbind(kVf); }},
    {"the VF was bound again",
     [](AttachmentFixture& a) {
       a.k.unbind(kVf);
       a.k.bind(kVf, "mlx5_core").value();
     }},
    {"the pod renamed its RDMA device",
     [](AttachmentFixture& a) {
       const Namespace& where = a.record.spec.isolation ? a.record.netns : kHost;
       const auto name = a.k.rdma_devices(where, kVf).value().front().name;
       a.k.rename_rdma(where, name, "mine").value();
     }},
};

// Gives the interface properties that it may have before the pod, and a fresh one has not.
void adorn(AttachmentFixture& a) {
  fake::Interface& interface = a.k.interface("", a.record.original.netdev->name);
  interface.umcast = true;
  interface.mtu = 1800;
  interface.up = true;
  interface.altnames = {"ibp59s0v0", "lan"};
  a.observe_now();
}

TEST_CASE("whatever was asked and whatever happened meanwhile, the node is as it was") {
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      for (const PodAction& deed : kPodActions) {
        AttachmentFixture a(variant, spec_case);
        a.k.make_namespace(kElsewhere);
        adorn(a);
        CAPTURE(text(variant));
        CAPTURE(spec_case.name);
        CAPTURE(deed.name);
        REQUIRE(a.give_now());
        deed.act(a);
        const Status restored = a.restore_now();
        REQUIRE_MESSAGE(restored, (restored ? std::string() : restored.error().text()));
        CHECK(a.changes() == "");
        const fake::State after = a.k.state;
        REQUIRE(a.restore_now());
        CHECK(fake::diff(after, a.k.state) == "");
      }
    }
  }
}

TEST_CASE("what stayed as it was is left alone: restoring it orders next to nothing") {
  for (const KernelVariant& variant : kernel_variants()) {
    AttachmentFixture a(variant, kSpecCases[0]);
    const int orders = a.k.orders();
    REQUIRE(a.restore_now());
    for (size_t i = static_cast<size_t>(orders); i < a.k.trail().size(); ++i) {
      CHECK(a.k.trail()[i] == "change_netdev");
    }
    CHECK(a.changes() == "");
  }
}

TEST_CASE("several RDMA devices of a function come back with all their names") {
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      for (const unsigned count : {2U, 3U}) {
        AttachmentFixture a(variant, spec_case, count);
        CAPTURE(text(variant));
        CAPTURE(spec_case.name);
        CAPTURE(count);
        unsigned number = 0;
        for (auto& [name, interface] : a.k.state.namespaces[fake::kHostId].interfaces) {
          if (interface.function == kVf) interface.altnames = {"alt" + std::to_string(number++)};
        }
        a.observe_now();
        REQUIRE(a.give_now());
        const Status restored = a.restore_now();
        REQUIRE_MESSAGE(restored, (restored ? std::string() : restored.error().text()));
        CHECK(a.changes() == "");
      }
    }
  }
}

TEST_CASE("children that an administrator made before are untouched") {
  for (const KernelVariant& variant : kernel_variants()) {
    if (variant.isolation) continue;  // check_children() keeps such a VF out of pods
    AttachmentFixture a(variant, kSpecCases[3]);
    a.k.add_child("", a.record.original.netdev->name, "ib1.8001", ib::PKey(0x8001));
    a.observe_now();
    CAPTURE(text(variant));
    REQUIRE(a.give_now());
    make_children(a);
    REQUIRE(a.restore_now());
    CHECK(a.changes() == "");
  }
}

TEST_CASE("a name that another holds for a while is waited for") {
  for (const SpecCase& spec_case : kSpecCases) {
    AttachmentFixture a(kShared, spec_case);
    const std::string name = a.record.original.netdev->name;
    CAPTURE(spec_case.name);
    REQUIRE(a.give_now());
    a.k.add_netdev("", name);
    a.k.at_next_wait([](fake::FakeKernel&) {});
    a.k.at_next_wait([&](fake::FakeKernel& k) { k.rename_netdev("", name, "gone"); });
    a.k.at_next_wait([](fake::FakeKernel&) {});
    REQUIRE(a.restore_now());
    CHECK(a.k.find_netdev(kHost, name).value()->kind == "ipoib");
  }
}

TEST_CASE("a name that another keeps is given up, and the VF is in service all the same") {
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      AttachmentFixture a(variant, spec_case);
      CAPTURE(text(variant));
      CAPTURE(spec_case.name);
      REQUIRE(a.give_now());
      a.k.add_netdev("", a.record.original.netdev->name);
      REQUIRE(a.restore_now());
      CHECK(own_netdev(a.k, kHost, kVf).value()->name == "vf00003b001");
      CHECK(same(*own_guids(a.k, kHost, kVf).value(), *a.record.original.guids));
      REQUIRE(a.restore_now());
      CHECK(own_netdev(a.k, kHost, kVf).value()->name == "vf00003b001");
    }
  }
}

TEST_CASE("an RDMA name that another keeps is given up, too") {
  AttachmentFixture a(kIsolated, kSpecCases[1]);
  a.k.rdma_names_per_namespace = true;
  REQUIRE(a.give_now());
  a.k.rename_rdma(kHost, "mlx5_3", a.record.original.rdma_devices.front()).value();
  REQUIRE(a.restore_now());
  CHECK(a.k.rdma_devices(kHost, kVf).value().front().name == "vf00003b001");
}

TEST_CASE("two VFs that hold each other's names both get their own") {
  AttachmentFixture a(kShared, kSpecCases[1]);
  Record other = a.record;
  other.device = fake::vf_address(0, 1);
  other.original = observe(a.k, *a.k.function(other.device).value(), other.spec).value();
  other.spec.guids.reset();
  REQUIRE(a.give_now());
  a.k.kill_namespace(kPod);
  a.before.namespaces.erase(id_of(a.before, kPod));
  const std::string mine = a.record.original.netdev->name;
  const std::string theirs = other.original.netdev->name;
  a.k.rename_netdev("", own_netdev(a.k, kHost, kVf).value()->name, "aside");
  a.k.rename_netdev("", theirs, mine);
  a.k.rename_netdev("", "aside", theirs);
  a.k.unbind(kVf);
  a.k.bind(kVf, "mlx5_core").value();
  a.k.at_next_wait([](fake::FakeKernel&) {});
  a.k.at_next_wait([&](fake::FakeKernel& k) { CHECK(restore(k, other, a.write, kSoon)); });
  a.k.at_next_wait([](fake::FakeKernel&) {});
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
}

TEST_CASE("a VF that has vanished is restored by definition") {
  AttachmentFixture a(kIsolated, kSpecCases[1]);
  REQUIRE(a.give_now());
  a.k.vanish(kVf);
  CHECK(a.restore_now());
}

TEST_CASE("what the PF had been told before it is told again, whatever the VF showed") {
  AttachmentFixture a(kShared, kSpecCases[1]);
  fake::PciFunction& function = a.k.function_state(kVf);
  SUBCASE("another GUID, which the VF had not taken yet") {
    function.node_guid.value = function.port_guid.value = ib::Guid(0x0200000000000b01);
  }
  SUBCASE("another GUID, and nothing was asked") {
    function.node_guid.value = function.port_guid.value = ib::Guid(0x0200000000000b01);
    a.record.spec.guids.reset();
  }
  SUBCASE("nothing, and the VF has one of its own, which is asked for") {
    function.made_with.value = fake::vf_guid(0, 0);
    function.node_guid.value = function.port_guid.value = ib::Guid();
    a.record.spec.guids = a.record.original.guids;
  }
  a.observe_now();
  REQUIRE(a.give_now());
  SUBCASE("by way of a rebind") { hide(a); }
  SUBCASE("by moving") {}
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
}

TEST_CASE("a VF of which the kernel cannot tell gets back what it had shown") {
  for (const KernelVariant& variant : kernel_variants()) {
    AttachmentFixture a(variant, kSpecCases[4]);
    a.k.tells_vf_settings = false;
    a.record.spec.policy.reset();  // what cannot be read cannot be put back
    a.observe_now();
    CHECK_FALSE(a.record.original.pf_configured);
    REQUIRE(a.give_now());
    REQUIRE(a.restore_now());
    CHECK(a.changes() == "");
  }
}

TEST_CASE("a kernel that stops telling of its VFs keeps nothing from coming home") {
  AttachmentFixture a(kIsolated, kSpecCases[4]);
  REQUIRE(a.give_now());
  a.k.tells_vf_settings = false;
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
}

TEST_CASE("a PF whose driver has forgotten what it was told of a VF is told it again") {
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      AttachmentFixture a(variant, spec_case);
      CAPTURE(text(variant));
      CAPTURE(spec_case.name);
      REQUIRE(a.give_now());
      a.k.lose_power();
      a.k.make_vfs(fake::pf_address(0), 2);
      const Status restored = a.restore_now();
      REQUIRE_MESSAGE(restored, (restored ? std::string() : restored.error().text()));
      CHECK(same(*own_guids(a.k, kHost, kVf).value(), *a.record.original.guids));
      CHECK(same(pf_guids_of(a.k), *a.record.original.pf_configured));
    }
  }
}

TEST_CASE("of an attachment there are traces until it is restored, and none after a boot") {
  struct Event {
    const char* name;
    std::function<void(AttachmentFixture&)> happen;
    bool (*leaves)(const AttachmentFixture&);
  };
  const auto asked = [](const AttachmentFixture& a) { return a.record.spec.guids.has_value(); };
  // A GUID that the VF had before is its own.
  const auto its_own = [](const AttachmentFixture& a) {
    return a.record.spec.guids && a.record.spec.guids == a.record.original.guids;
  };
  const auto none = [](const AttachmentFixture&) { return false; };
  const Event events[] = {
      {"nothing", [](AttachmentFixture&) {}, [](const AttachmentFixture&) { return true; }},
      {"restored", [](AttachmentFixture& a) { a.restore_now().value(); }, its_own},
      {"the namespace ends", [](AttachmentFixture& a) { a.k.kill_namespace(kPod); }, asked},
      {"and the driver goes",
       [](AttachmentFixture& a) {
         a.k.kill_namespace(kPod);
         a.k.unbind(kVf);
       },
       asked},
      {"a boot", [](AttachmentFixture& a) { a.k.lose_power(); }, none},
      {"a boot, and new VFs",
       [](AttachmentFixture& a) {
         a.k.lose_power();
         a.k.make_vfs(fake::pf_address(0), 2);
       },
       none},
  };
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      for (const Event& event : events) {
        AttachmentFixture a(variant, spec_case);
        CAPTURE(text(variant));
        CAPTURE(spec_case.name);
        CAPTURE(event.name);
        REQUIRE(a.give_now());
        event.happen(a);
        CHECK(has_traces(a.k, a.record).value() == event.leaves(a));
      }
    }
  }
}

// --- the loops

struct FaultCounts {
  int failed = 0;
  int killed = 0;
};

// One point: what is given dies or fails half way; then all is restored.
bool point(const KernelVariant& variant, const SpecCase& spec_case,
           const std::function<void(fake::FakeKernel&)>& fault) {
  AttachmentFixture a(variant, spec_case);
  fault(a.k);
  try {
    const Status given = a.give_now();
    CHECK((given || a.k.struck()));
  } catch (const fake::Killed&) {
  }
  const bool struck = a.k.struck();
  a.k.heal();
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
  return struck;
}

bool point_of_restore(const KernelVariant& variant, const SpecCase& spec_case,
                      const std::function<void(fake::FakeKernel&)>& fault) {
  AttachmentFixture a(variant, spec_case);
  REQUIRE(a.give_now());
  fault(a.k);
  try {
    const Status restored = a.restore_now();
    if (restored) CHECK(a.changes() == "");
  } catch (const fake::Killed&) {
  }
  const bool struck = a.k.struck();
  a.k.heal();
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
  return struck;
}

TEST_CASE("wherever giving or restoring fails or dies, restoring leaves the node as it was") {
  using fake::FakeKernel;
  using Count = FakeKernel::Count;
  using When = FakeKernel::When;
  FaultCounts points;
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      CAPTURE(text(variant));
      CAPTURE(spec_case.name);
      for (const auto& one : {&point, &point_of_restore}) {
        bool more = true;
        for (int n = 0; more; ++n) {
          CAPTURE(n);
          more = one(variant, spec_case, [&](FakeKernel& k) { k.fail_at(n, Count::calls); });
          points.failed += more;
        }
        more = true;
        for (int n = 0; more; ++n) {
          CAPTURE(n);
          more = one(variant, spec_case, [&](FakeKernel& k) { k.kill_at(n, When::before_effect); });
          one(variant, spec_case, [&](FakeKernel& k) { k.kill_at(n, When::amid_effect); });
          one(variant, spec_case, [&](FakeKernel& k) { k.kill_at(n, When::after_effect); });
          one(variant, spec_case, [&](FakeKernel& k) { k.fail_after(n); });
          one(variant, spec_case, [&](FakeKernel& k) { k.fail_from(n); });
          points.killed += more;
        }
      }
    }
  }
  CHECK(points.failed > 1150);
  CHECK(points.killed > 330);
}

// How often restoring binds the VF.
size_t binds(const KernelVariant& variant, const SpecCase& spec_case, bool cut_short) {
  AttachmentFixture a(variant, spec_case);
  REQUIRE(a.give_now());
  a.rebind_pending_on_disk = cut_short;
  a.k.bound.clear();
  REQUIRE(a.restore_now());
  CHECK_FALSE(a.rebind_pending_on_disk);
  CHECK(a.changes() == "");
  return a.k.bound.size();
}

TEST_CASE("what was killed in a bind or a move is bound once more, and only that") {
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      CAPTURE(text(variant));
      CAPTURE(spec_case.name);
      const bool takes_others =
          spec_case.guids &&
          !same(*spec_case.guids, Guids{fake::vf_guid(0, 0), fake::vf_guid(0, 0)});
      CHECK(binds(variant, spec_case, false) == (takes_others ? 1 : 0));
      CHECK(binds(variant, spec_case, true) == 1);
    }
  }
}

TEST_CASE("on a full disk a VF comes home all the same, and one that was cut short stays marked") {
  for (const KernelVariant& variant : kernel_variants()) {
    for (const SpecCase& spec_case : kSpecCases) {
      for (const bool cut_short : {false, true}) {
        AttachmentFixture a(variant, spec_case);
        CAPTURE(text(variant));
        CAPTURE(spec_case.name);
        CAPTURE(cut_short);
        REQUIRE(a.give_now());
        a.rebind_pending_on_disk = cut_short;
        a.disk_full = true;
        REQUIRE(a.restore_now());
        CHECK(a.changes() == "");
        CHECK(a.rebind_pending_on_disk == cut_short);
        a.disk_full = false;
        REQUIRE(a.restore_now());
        CHECK(a.changes() == "");
        CHECK_FALSE(a.rebind_pending_on_disk);
      }
    }
  }
}

// --- without a record

TEST_CASE("a VF whose record cannot be read goes home without any GUID") {
  for (const KernelVariant& variant : kernel_variants()) {
    AttachmentFixture a(variant, kSpecCases[1]);
    REQUIRE(a.give_now());
    REQUIRE(clear_identity(a.k, kVf, kSoon));
    CHECK(own_guids(a.k, kHost, kVf).value()->none());
    CHECK(own_netdev(a.k, kHost, kVf).value());
    CHECK_FALSE(own_netdev(a.k, a.record.netns, kVf).value());
    REQUIRE(clear_identity(a.k, kVf, kSoon));
  }
}

TEST_CASE("without a record, what is in the namespace comes home, and nothing else") {
  for (const KernelVariant& variant : kernel_variants()) {
    AttachmentFixture a(variant, kSpecCases[0]);
    CAPTURE(text(variant));
    const fake::State untouched = a.k.state;
    REQUIRE(return_to_host_from(a.k, a.record.netns, kVf, kSoon));
    CHECK(fake::diff(untouched, a.k.state) == "");
    REQUIRE(a.give_now());
    const Namespace elsewhere = a.k.make_namespace(kElsewhere);
    REQUIRE(return_to_host_from(a.k, elsewhere, kVf, kSoon));
    CHECK(own_netdev(a.k, a.record.netns, kVf).value());
    REQUIRE(return_to_host_from(a.k, a.record.netns, kVf, kSoon));
    CHECK(own_netdev(a.k, kHost, kVf).value());
    CHECK(own_guids(a.k, kHost, kVf).value() == a.record.original.guids);
    REQUIRE(return_to_host_from(a.k, a.record.netns, kVf, kSoon));
  }
}

TEST_CASE("an attachment is live in its boot, while its namespace is the one under its path") {
  AttachmentFixture a(kShared, kSpecCases[0]);
  a.record.boot_id = "this";
  CHECK(liveness(a.k, a.record, "this").value() == Liveness::live);
  CHECK(liveness(a.k, a.record, "another").value() == Liveness::dead);
  SUBCASE("dead") { a.k.kill_namespace(kPod); }
  SUBCASE("hidden") { a.k.hide_namespace(kPod); }
  SUBCASE("another one under its path") { a.k.make_namespace(kPod); }
  CHECK(liveness(a.k, a.record, "this").value() == Liveness::dead);
}

TEST_CASE("a path that shows a file which is no namespace does not say that the pod is dead") {
  AttachmentFixture a(kShared, kSpecCases[0]);
  a.record.boot_id = "this";
  a.k.covered.insert(kPod);
  SUBCASE("the namespace lives") {}
  SUBCASE("the namespace is gone") { a.k.kill_namespace(kPod); }
  CHECK(liveness(a.k, a.record, "this").value() == Liveness::unknown);
  CHECK(liveness(a.k, a.record, "another").value() == Liveness::dead);
  a.record.stage = Stage::ending;
  CHECK(liveness(a.k, a.record, "this").value() == Liveness::dead);
}

}  // namespace
}  // namespace ibpod::node
