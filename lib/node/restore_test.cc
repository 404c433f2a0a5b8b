// Giving and restoring leave the node as it was. What "as it was" means is fake_state's comparison:
// of an IPoIB hardware address only the GID counts, indexes are left out, the GUIDs 0 and all-ones
// both read as none (its tests are in tests/support).
#include "lib/node/restore.h"

#include "lib/node/test_vf.h"

#include <functional>

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

const World kIsolated = worlds().front();
const World kShared = worlds()[2];
const Path kElsewhere = "/run/netns/elsewhere";

// What a pod, its runtime or an administrator may have done meanwhile.
struct Deed {
  const char* name;
  std::function<void(Attachment&)> act;
};

Netdev inside(Attachment& a) { return *own_netdev(a.k, a.record.netns, kVf).value(); }

void change(Attachment& a, const NetdevChange& what) {
  a.k.change_netdev(a.record.netns, inside(a).index, {.up = false}).value();
  a.k.change_netdev(a.record.netns, inside(a).index, what).value();
}

int id_of(const fake::State& state, const Path& path) {
  for (const auto& [id, where] : state.namespaces) {
    if (where.path == path) return id;
  }
  std::abort();
}

void kill(Attachment& a) {
  a.before.namespaces.erase(id_of(a.before, kPod));
  a.k.kill_namespace(kPod);
}

void hide(Attachment& a) {
  a.before.namespaces[id_of(a.before, kPod)].path.reset();
  a.k.hide_namespace(kPod);
}

void replace(Attachment& a) {
  hide(a);
  a.k.make_namespace(kPod);
  a.before.namespaces[id_of(a.k.state, kPod)] = a.k.state.namespaces[id_of(a.k.state, kPod)];
}

void move_on(Attachment& a) {
  const Namespace elsewhere = *a.k.find_namespace(kElsewhere).value();
  if (a.record.wanted.isolation) {
    a.k.move_rdma(a.record.netns, a.k.rdma_devices(a.record.netns, kVf).value().front().name,
                  elsewhere)
        .value();
  }
  const auto netdev = own_netdev(a.k, a.record.netns, kVf).value();
  if (netdev) a.k.move_netdev(a.record.netns, netdev->index, elsewhere, "mine").value();
}

Guids told(fake::FakeKernel& k) {
  const nl::VfSettings settings = k.vf_settings(*k.function(kVf).value()).value();
  return {settings.node_guid, settings.port_guid};
}

void make_children(Attachment& a) {
  a.k.add_child(kPod, "net1", "kid", ib::PKey(0x8005));
  a.k.add_child(kPod, "net1", "ib0.8006", ib::PKey(0x8006));
}

// The interface comes home as it was where its RDMA device has never left: with such a child the
// pod would go on over the next one's port.
void hide_child(Attachment& a) {
  make_children(a);
  const Namespace elsewhere = *a.k.find_namespace(kElsewhere).value();
  a.k.move_netdev(a.record.netns, a.k.interface(kPod, "kid").index.value, elsewhere, "mine")
      .value();
}

const std::vector<Deed> kDeeds{
    {"nothing", [](Attachment&) {}},
    {"the namespace died", kill},
    {"the namespace lives on without a path", hide},
    {"another namespace has the path", replace},
    {"the pod renamed its interface", [](Attachment& a) { change(a, {.name = "mine"}); }},
    {"the pod gave it the name of a host's", [](Attachment& a) { change(a, {.name = "ib0"}); }},
    {"the pod gave it an altname of the host's",
     [](Attachment& a) {
       change(a, {.altnames = std::vector<std::string>{"ib0", "ib3"}});
     }},
    {"the pod gave it its own old name as altname",
     [](Attachment& a) {
       change(a, {.altnames = std::vector<std::string>{a.record.found.netdev->name}});
     }},
    {"the pod moved all into another namespace", move_on},
    {"the pod made children", make_children},
    {"the pod made children and hid one", hide_child},
    {"the pod hid one, and the kernel does not tell",
     [](Attachment& a) {
       hide_child(a);
       a.k.tells_queue_pairs = false;
     }},
    {"the pod made children and died",
     [](Attachment& a) {
       make_children(a);
       kill(a);
     }},
    {"the pod changed mode, umcast and MTU",
     [](Attachment& a) {
       change(a, {.mtu = 60000, .mode = nl::IpoibMode::connected, .umcast = true, .up = true});
     }},
    {"the pod changed the mode and died",
     [](Attachment& a) {
       change(a, {.mode = nl::IpoibMode::connected, .umcast = true});
       kill(a);
     }},
    {"the pod set it down", [](Attachment& a) { change(a, {}); }},
    {"the pod set addresses and routes",
     [](Attachment& a) {
       const Addressing all{{ip::Prefix::parse("10.1.2.3/24").value()}, {}};
       a.k.configure(a.record.netns, inside(a).index, all, kSoon).value();
     }},
    {"somebody unbound the VF", [](Attachment& a) { a.k.unbind(kVf); }},
    {"somebody bound the VF anew",
     [](Attachment& a) {
       a.k.unbind(kVf);
       a.k.bind(kVf, "mlx5_core").value();
     }},
    {"the pod renamed its RDMA device",
     [](Attachment& a) {
       const Namespace& where = a.record.wanted.isolation ? a.record.netns : kHost;
       const auto name = a.k.rdma_devices(where, kVf).value().front().name;
       a.k.rename_rdma(where, name, "mine").value();
     }},
};

// What a FoundNetdev of before the pod may say, and a fresh one would not.
void adorn(Attachment& a) {
  fake::Interface& interface = a.k.interface("", a.record.found.netdev->name);
  interface.umcast = true;
  interface.mtu = 1800;
  interface.up = true;
  interface.altnames = {"ibp59s0v0", "lan"};
  a.observe_now();
}

TEST_CASE("whatever was asked and whatever happened meanwhile, the node is as it was") {
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      for (const Deed& deed : kDeeds) {
        Attachment a(world, ask);
        a.k.make_namespace(kElsewhere);
        adorn(a);
        CAPTURE(text(world));
        CAPTURE(ask.name);
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
  for (const World& world : worlds()) {
    Attachment a(world, kAsks[0]);
    const int orders = a.k.orders();
    REQUIRE(a.restore_now());
    for (size_t i = static_cast<size_t>(orders); i < a.k.trail().size(); ++i) {
      CHECK(a.k.trail()[i] == "change_netdev");
    }
    CHECK(a.changes() == "");
  }
}

TEST_CASE("several RDMA devices of a function come back with all their names") {
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      for (const unsigned count : {2U, 3U}) {
        Attachment a(world, ask, count);
        CAPTURE(text(world));
        CAPTURE(ask.name);
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
  for (const World& world : worlds()) {
    if (world.isolation) continue;  // check_children() keeps such a VF out of pods
    Attachment a(world, kAsks[3]);
    a.k.add_child("", a.record.found.netdev->name, "ib1.8001", ib::PKey(0x8001));
    a.observe_now();
    CAPTURE(text(world));
    REQUIRE(a.give_now());
    make_children(a);
    REQUIRE(a.restore_now());
    CHECK(a.changes() == "");
  }
}

TEST_CASE("a name that another holds for a while is waited for") {
  for (const Ask& ask : kAsks) {
    Attachment a(kShared, ask);
    const std::string name = a.record.found.netdev->name;
    CAPTURE(ask.name);
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
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      Attachment a(world, ask);
      CAPTURE(text(world));
      CAPTURE(ask.name);
      REQUIRE(a.give_now());
      a.k.add_netdev("", a.record.found.netdev->name);
      REQUIRE(a.restore_now());
      CHECK(own_netdev(a.k, kHost, kVf).value()->name == "vf00003b001");
      CHECK(same(*own_guids(a.k, kHost, kVf).value(), *a.record.found.guids));
      REQUIRE(a.restore_now());
      CHECK(own_netdev(a.k, kHost, kVf).value()->name == "vf00003b001");
    }
  }
}

TEST_CASE("an RDMA name that another keeps is given up, too") {
  Attachment a(kIsolated, kAsks[1]);
  a.k.rdma_names_per_namespace = true;
  REQUIRE(a.give_now());
  a.k.rename_rdma(kHost, "mlx5_3", a.record.found.rdma_devices.front()).value();
  REQUIRE(a.restore_now());
  CHECK(a.k.rdma_devices(kHost, kVf).value().front().name == "vf00003b001");
}

TEST_CASE("two VFs that hold each other's names both get their own") {
  Attachment a(kShared, kAsks[1]);
  Record other = a.record;
  other.device = fake::vf_address(0, 1);
  other.found = observe(a.k, *a.k.function(other.device).value(), other.wanted).value();
  other.wanted.guids.reset();
  REQUIRE(a.give_now());
  a.k.kill_namespace(kPod);
  a.before.namespaces.erase(id_of(a.before, kPod));
  const std::string mine = a.record.found.netdev->name;
  const std::string theirs = other.found.netdev->name;
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
  Attachment a(kIsolated, kAsks[1]);
  REQUIRE(a.give_now());
  a.k.vanish(kVf);
  CHECK(a.restore_now());
}

TEST_CASE("what the PF had been told before it is told again, whatever the VF showed") {
  Attachment a(kShared, kAsks[1]);
  fake::PciFunction& function = a.k.function_state(kVf);
  SUBCASE("another GUID, which the VF had not taken yet") {
    function.node_guid.value = function.port_guid.value = ib::Guid(0x0200000000000b01);
  }
  SUBCASE("another GUID, and nothing was asked") {
    function.node_guid.value = function.port_guid.value = ib::Guid(0x0200000000000b01);
    a.record.wanted.guids.reset();
  }
  SUBCASE("nothing, and the VF has one of its own, which is asked for") {
    function.made_with.value = fake::vf_guid(0, 0);
    function.node_guid.value = function.port_guid.value = ib::Guid();
    a.record.wanted.guids = a.record.found.guids;
  }
  a.observe_now();
  REQUIRE(a.give_now());
  SUBCASE("by way of a rebind") { hide(a); }
  SUBCASE("by moving") {}
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
}

TEST_CASE("a VF of which the kernel cannot tell gets back what it had shown") {
  for (const World& world : worlds()) {
    Attachment a(world, kAsks[4]);
    a.k.tells_vf_settings = false;
    a.record.wanted.policy.reset();  // what cannot be read cannot be put back
    a.observe_now();
    CHECK_FALSE(a.record.found.told);
    REQUIRE(a.give_now());
    REQUIRE(a.restore_now());
    CHECK(a.changes() == "");
  }
}

TEST_CASE("a kernel that stops telling of its VFs keeps nothing from coming home") {
  Attachment a(kIsolated, kAsks[4]);
  REQUIRE(a.give_now());
  a.k.tells_vf_settings = false;
  REQUIRE(a.restore_now());
  CHECK(a.changes() == "");
}

TEST_CASE("a PF whose driver has forgotten what it was told of a VF is told it again") {
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      Attachment a(world, ask);
      CAPTURE(text(world));
      CAPTURE(ask.name);
      REQUIRE(a.give_now());
      a.k.lose_power();
      a.k.make_vfs(fake::pf_address(0), 2);
      const Status restored = a.restore_now();
      REQUIRE_MESSAGE(restored, (restored ? std::string() : restored.error().text()));
      CHECK(same(*own_guids(a.k, kHost, kVf).value(), *a.record.found.guids));
      CHECK(same(told(a.k), *a.record.found.told));
    }
  }
}

TEST_CASE("of an attachment there are traces until it is restored, and none after a boot") {
  struct Event {
    const char* name;
    std::function<void(Attachment&)> happen;
    bool (*leaves)(const Attachment&);
  };
  const auto asked = [](const Attachment& a) { return a.record.wanted.guids.has_value(); };
  // A GUID that the VF had before is its own.
  const auto its_own = [](const Attachment& a) {
    return a.record.wanted.guids && a.record.wanted.guids == a.record.found.guids;
  };
  const auto none = [](const Attachment&) { return false; };
  const Event events[] = {
      {"nothing", [](Attachment&) {}, [](const Attachment&) { return true; }},
      {"restored", [](Attachment& a) { a.restore_now().value(); }, its_own},
      {"the namespace ends", [](Attachment& a) { a.k.kill_namespace(kPod); }, asked},
      {"and the driver goes",
       [](Attachment& a) {
         a.k.kill_namespace(kPod);
         a.k.unbind(kVf);
       },
       asked},
      {"a boot", [](Attachment& a) { a.k.lose_power(); }, none},
      {"a boot, and new VFs",
       [](Attachment& a) {
         a.k.lose_power();
         a.k.make_vfs(fake::pf_address(0), 2);
       },
       none},
  };
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      for (const Event& event : events) {
        Attachment a(world, ask);
        CAPTURE(text(world));
        CAPTURE(ask.name);
        CAPTURE(event.name);
        REQUIRE(a.give_now());
        event.happen(a);
        CHECK(has_traces(a.k, a.record).value() == event.leaves(a));
      }
    }
  }
}

// --- the loops

struct Points {
  int failed = 0;
  int killed = 0;
};

// One point: what is given dies or fails half way; then all is restored.
bool point(const World& world, const Ask& ask,
           const std::function<void(fake::FakeKernel&)>& fault) {
  Attachment a(world, ask);
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

bool point_of_restore(const World& world, const Ask& ask,
                      const std::function<void(fake::FakeKernel&)>& fault) {
  Attachment a(world, ask);
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
  Points points;
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      CAPTURE(text(world));
      CAPTURE(ask.name);
      for (const auto& one : {&point, &point_of_restore}) {
        bool more = true;
        for (int n = 0; more; ++n) {
          CAPTURE(n);
          more = one(world, ask, [&](FakeKernel& k) { k.fail_at(n, Count::calls); });
          points.failed += more;
        }
        more = true;
        for (int n = 0; more; ++n) {
          CAPTURE(n);
          more = one(world, ask, [&](FakeKernel& k) { k.kill_at(n, When::before_effect); });
          one(world, ask, [&](FakeKernel& k) { k.kill_at(n, When::amid_effect); });
          one(world, ask, [&](FakeKernel& k) { k.kill_at(n, When::after_effect); });
          one(world, ask, [&](FakeKernel& k) { k.fail_after(n); });
          one(world, ask, [&](FakeKernel& k) { k.fail_from(n); });
          points.killed += more;
        }
      }
    }
  }
  CHECK(points.failed > 1150);
  CHECK(points.killed > 330);
}

// How often restoring binds the VF.
size_t binds(const World& world, const Ask& ask, bool cut_short) {
  Attachment a(world, ask);
  REQUIRE(a.give_now());
  a.unsettled_on_disk = cut_short;
  a.k.bound.clear();
  REQUIRE(a.restore_now());
  CHECK_FALSE(a.unsettled_on_disk);
  CHECK(a.changes() == "");
  return a.k.bound.size();
}

TEST_CASE("what was killed in a bind or a move is bound once more, and only that") {
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      CAPTURE(text(world));
      CAPTURE(ask.name);
      const bool takes_others =
          ask.guids && !same(*ask.guids, Guids{fake::vf_guid(0, 0), fake::vf_guid(0, 0)});
      CHECK(binds(world, ask, false) == (takes_others ? 1 : 0));
      CHECK(binds(world, ask, true) == 1);
    }
  }
}

TEST_CASE("on a full disk a VF comes home all the same, and one that was cut short stays marked") {
  for (const World& world : worlds()) {
    for (const Ask& ask : kAsks) {
      for (const bool cut_short : {false, true}) {
        Attachment a(world, ask);
        CAPTURE(text(world));
        CAPTURE(ask.name);
        CAPTURE(cut_short);
        REQUIRE(a.give_now());
        a.unsettled_on_disk = cut_short;
        a.disk_full = true;
        REQUIRE(a.restore_now());
        CHECK(a.changes() == "");
        CHECK(a.unsettled_on_disk == cut_short);
        a.disk_full = false;
        REQUIRE(a.restore_now());
        CHECK(a.changes() == "");
        CHECK_FALSE(a.unsettled_on_disk);
      }
    }
  }
}

// --- without a record

TEST_CASE("a VF whose record cannot be read goes home without any GUID") {
  for (const World& world : worlds()) {
    Attachment a(world, kAsks[1]);
    REQUIRE(a.give_now());
    REQUIRE(disown(a.k, kVf, kSoon));
    CHECK(own_guids(a.k, kHost, kVf).value()->none());
    CHECK(own_netdev(a.k, kHost, kVf).value());
    CHECK_FALSE(own_netdev(a.k, a.record.netns, kVf).value());
    REQUIRE(disown(a.k, kVf, kSoon));
  }
}

TEST_CASE("without a record, what is in the namespace comes home, and nothing else") {
  for (const World& world : worlds()) {
    Attachment a(world, kAsks[0]);
    CAPTURE(text(world));
    const fake::State untouched = a.k.state;
    REQUIRE(fetch_from(a.k, a.record.netns, kVf, kSoon));
    CHECK(fake::diff(untouched, a.k.state) == "");
    REQUIRE(a.give_now());
    const Namespace elsewhere = a.k.make_namespace(kElsewhere);
    REQUIRE(fetch_from(a.k, elsewhere, kVf, kSoon));
    CHECK(own_netdev(a.k, a.record.netns, kVf).value());
    REQUIRE(fetch_from(a.k, a.record.netns, kVf, kSoon));
    CHECK(own_netdev(a.k, kHost, kVf).value());
    CHECK(own_guids(a.k, kHost, kVf).value() == a.record.found.guids);
    REQUIRE(fetch_from(a.k, a.record.netns, kVf, kSoon));
  }
}

TEST_CASE("an attachment is live in its boot, while its namespace is the one under its path") {
  Attachment a(kShared, kAsks[0]);
  a.record.boot_id = "this";
  CHECK(liveness(a.k, a.record, "this").value() == Liveness::live);
  CHECK(liveness(a.k, a.record, "another").value() == Liveness::dead);
  SUBCASE("dead") { a.k.kill_namespace(kPod); }
  SUBCASE("hidden") { a.k.hide_namespace(kPod); }
  SUBCASE("another one under its path") { a.k.make_namespace(kPod); }
  CHECK(liveness(a.k, a.record, "this").value() == Liveness::dead);
}

TEST_CASE("a path that shows a file which is no namespace does not say that the pod is dead") {
  Attachment a(kShared, kAsks[0]);
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
