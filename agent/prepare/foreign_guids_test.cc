// VFs that others have made, with GUIDs of their own: with the rule "pool" they get GUIDs of the
// pool as soon as nothing uses them, and not before.
#include "agent/prepare/test_prepare_fixture.h"

#include <algorithm>

namespace ibpod::agent::prepare {
namespace {

using node::Guids;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Guids foreign(unsigned number) { return {fake::vf_guid(0, number), fake::vf_guid(0, number)}; }

// Three VFs, bound, with GUIDs of others.
struct ForeignFixture : PrepareFixture {
  ForeignFixture() {
    k = fake::node_with(1, 3);
    for (const unsigned i : {0U, 1U, 2U}) give(i, foreign(i));
    k.bound.clear();
    config().pool_guids = true;
    orders_before = k.orders();
  }
  int orders() const { return k.orders() - orders_before; }
  void give(unsigned number, const Guids& guids) {
    k.set_vf_guids(*k.function(vf(number)).value(), guids.node, guids.port).value();
    rebind(number, "mlx5_core");
  }
  void rebind(unsigned number, const std::string& driver) {
    k.unbind(vf(number));
    k.bind(vf(number), driver).value();
  }
  std::string netdev(unsigned number) {
    return k.netdevs(node::kHost, vf(number)).value().front().name;
  }
  void move_netdev(unsigned number) {
    const node::Namespace pod = k.make_namespace("/run/netns/pod");
    const auto index = k.netdevs(node::kHost, vf(number)).value().front().index;
    k.move_netdev(node::kHost, index, pod, "net1").value();
  }
  void move_rdma(unsigned number) {
    const node::Namespace pod = k.make_namespace("/run/netns/pod");
    const auto device = k.rdma_devices(node::kHost, vf(number)).value().front().name;
    k.move_rdma(node::kHost, device, pod).value();
  }
  // A child on the VF's interface, which stays at home, in a pod's namespace.
  void make_child_in_pod(unsigned number) {
    k.add_child("", netdev(number), "child", ib::PKey(0x8001));
    const node::Namespace pod = k.make_namespace("/run/netns/pod");
    const auto child = k.find_netdev(node::kHost, "child").value();
    k.move_netdev(node::kHost, child->index, pod, "net1").value();
  }
  void remove_child(const std::string& path, const std::string& name) {
    for (auto& [id, where] : k.state.namespaces)
      if (where.path.value_or("") == path) where.interfaces.erase(name);
  }
  void end_pod() {
    k.kill_namespace("/run/netns/pod");
    k.settle();
  }
  int binds_of(unsigned number) const {
    return static_cast<int>(std::count_if(k.bound.begin(), k.bound.end(),
                                          [&](const auto& one) { return one.vf == vf(number); }));
  }
  // Without a MAD agent, as a bind leaves it that was killed.
  bool is_deaf(unsigned number) const {
    for (const auto& [id, where] : k.state.namespaces)
      for (const auto& [name, device] : where.rdma)
        if (device.function == vf(number) && device.deaf) return true;
    return false;
  }
  void remove_records() {
    for (const node::RecordName& name : records.all().value()) records.remove(name).value();
  }

  int orders_before = 0;  // those that have made the VFs
};

TEST_CASE("GUIDs of others stay unless the entry says pool, and then give way with one bind") {
  for (const bool pool : {false, true}) {
    CAPTURE(pool);
    ForeignFixture fixture;
    fixture.config().pool_guids = pool;
    fixture.k.function_state(vf(1)).policy = nl::LinkPolicy::enable;
    CHECK(fixture.problems() == "");
    for (const unsigned i : {0U, 1U, 2U}) {
      CHECK(fixture.shown(i) == (pool ? derived(i) : foreign(i)));
      CHECK(fixture.binds_of(i) == (pool ? 1 : 0));
    }
    CHECK(fixture.function(1).policy == nl::LinkPolicy::enable);
    CHECK(fixture.intents.all()->empty());
    const int orders = fixture.k.orders();
    CHECK(fixture.problems() == "");
    CHECK(fixture.k.orders() == orders);
  }
}

TEST_CASE("the GUIDs are those of the SM service's pool, and none gives way while it is away") {
  ForeignFixture fixture;
  bool away = true;
  fixture.pool = [&](const ib::PciAddress&, uint32_t number) -> Result<ib::Guid> {
    if (away) return Error(Code::unavailable, "no answer");
    return ib::Guid(0x0200000000000100 + number);
  };
  CHECK(contains(fixture.problems(), "get a GUID of the SM service's pool for 0000:3b:00.1"));
  CHECK(fixture.orders() == 0);
  away = false;
  CHECK(fixture.problems() == "");
  for (const unsigned i : {0U, 1U, 2U})
    CHECK(fixture.shown(i) == Guids{derived(i).node, ib::Guid(0x0200000000000100 + i)});
}

TEST_CASE("a VF of which the GUIDs are of the pool stays as it is, used or not") {
  ForeignFixture fixture;
  fixture.give(0, derived(0));
  fixture.k.bound.clear();
  fixture.k.rdma_users_of[vf(0)] = {{.process = 4711}};
  CHECK(fixture.problems() == "");
  CHECK(fixture.binds_of(0) == 0);
  CHECK(fixture.k.rdma_users_of.contains(vf(0)));
}

PodOf given_to(unsigned number, const std::string& pod) {
  return [=](const ib::PciAddress& device) -> Result<std::optional<std::string>> {
    return device == vf(number) ? std::optional(pod) : std::nullopt;
  };
}

struct User {
  const char* name;
  void (*come)(ForeignFixture&);
  const char* problem;
  void (*go)(ForeignFixture&);
};
const User kProcess{
    "a process",
    [](ForeignFixture& fixture) { fixture.k.rdma_users_of[vf(1)] = {{.process = 4711}}; },
    "it is in use: process 4711 has its RDMA device open",
    [](ForeignFixture& fixture) { fixture.k.rdma_users_of.clear(); }};
const User kUsers[] = {
    kProcess,
    {"a pod of ours", [](ForeignFixture& fixture) { fixture.write_record(vf(1)); },
     "it is in use: a pod has it", [](ForeignFixture& fixture) { fixture.remove_records(); }},
    {"a pod that has its interface", [](ForeignFixture& fixture) { fixture.move_netdev(1); },
     "it is in use: its interface is not in the host's namespace",
     [](ForeignFixture& fixture) { fixture.end_pod(); }},
    {"a pod that has its RDMA device", [](ForeignFixture& fixture) { fixture.move_rdma(1); },
     "it is in use: its RDMA device is not in the host's namespace",
     [](ForeignFixture& fixture) { fixture.end_pod(); }},
    {"the same, where the kernel does not tell of VFs",
     [](ForeignFixture& fixture) {
       fixture.k.tells_vf_settings = false;
       fixture.move_rdma(1);
     },
     "it is in use: its RDMA device is not in the host's namespace",
     [](ForeignFixture& fixture) { fixture.end_pod(); }},
    {"a pod in shared mode",
     [](ForeignFixture& fixture) {
       fixture.k.state.rdma_mode = nl::RdmaNetnsMode::shared;
       fixture.move_netdev(1);
     },
     "it is in use: its interface is not in the host's namespace",
     [](ForeignFixture& fixture) { fixture.end_pod(); }},
    {"a child",
     [](ForeignFixture& fixture) {
       fixture.k.add_child("", fixture.netdev(1), "child", ib::PKey(0x8001));
     },
     "it is in use: it has the IPoIB child child",
     [](ForeignFixture& fixture) {
       fixture.k.state.namespaces[fake::kHostId].interfaces.erase("child");
     }},
    {"a child in a pod", [](ForeignFixture& fixture) { fixture.make_child_in_pod(1); },
     "it is in use: it has an IPoIB child in another network namespace",
     [](ForeignFixture& fixture) { fixture.remove_child("/run/netns/pod", "net1"); }},
    {"the same, where the kernel does not tell of queue pairs",
     [](ForeignFixture& fixture) {
       fixture.k.tells_queue_pairs = false;
       fixture.make_child_in_pod(1);
     },
     "it is in use: it has an IPoIB child in another network namespace",
     [](ForeignFixture& fixture) { fixture.remove_child("/run/netns/pod", "net1"); }},
    {"the host",
     [](ForeignFixture& fixture) {
       fixture.k.interface("", fixture.netdev(1)).addresses = {
           ip::Prefix::parse("10.1.2.3/24").value()};
     },
     "has the address 10.1.2.3/24",
     [](ForeignFixture& fixture) { fixture.k.interface("", fixture.netdev(1)).addresses.clear(); }},
    {"a process that is ending",
     [](ForeignFixture& fixture) { fixture.k.rdma_users_of[vf(1)] = {{}}; },
     "it is in use: a process that is ending has its RDMA device open",
     [](ForeignFixture& fixture) { fixture.k.rdma_users_of.clear(); }},
    {"a kernel module",
     [](ForeignFixture& fixture) { fixture.k.rdma_users_of[vf(1)] = {{.module = "ib_srp"}}; },
     "it is in use: the kernel module ib_srp has queue pairs on it",
     [](ForeignFixture& fixture) { fixture.k.rdma_users_of.clear(); }},
    {"a pod that has done nothing with it yet",
     [](ForeignFixture& fixture) {
       fixture.pod_of = [](const ib::PciAddress& device) -> Result<std::optional<std::string>> {
         return device == vf(1) ? std::optional<std::string>("team/a") : std::nullopt;
       };
     },
     "it is in use: the kubelet has given it to pod team/a",
     [](ForeignFixture& fixture) { fixture.pod_of = nullptr; }},
    {"perhaps a virtual machine", [](ForeignFixture& fixture) { fixture.rebind(1, "vfio-pci"); },
     "it is bound to vfio-pci", [](ForeignFixture& fixture) { fixture.rebind(1, "mlx5_core"); }},
};

TEST_CASE("a VF in use keeps its GUIDs until its user has gone, and the others get theirs") {
  for (const User& user : kUsers) {
    CAPTURE(std::string(user.name));
    ForeignFixture fixture;
    user.come(fixture);
    fixture.k.bound.clear();
    const fake::PciFunction before = fixture.function(1);
    const std::string problems = fixture.problems();
    CAPTURE(problems);
    CHECK(
        problems.starts_with("0000:3b:00.0: 0000:3b:00.2: it keeps GUIDs that are not of the "
                             "pool until nothing uses it: "));
    CHECK(contains(problems, user.problem));
    CHECK(fixture.function(1) == before);
    CHECK(fixture.binds_of(1) == 0);
    for (const unsigned i : {0U, 2U}) CHECK(fixture.shown(i) == derived(i));
    const int orders = fixture.k.orders();
    CHECK(fixture.problems() == problems);
    CHECK(fixture.k.orders() == orders);
    user.go(fixture);
    CHECK(fixture.problems() == "");
    CHECK(fixture.shown(1) == derived(1));
  }
}

TEST_CASE("a VF counts as in use if its users cannot be seen") {
  ForeignFixture fixture;
  std::string part;
  SUBCASE("those of its RDMA device") {
    fixture.k.tells_rdma_users = false;
    part = "cannot see who uses its RDMA device: list the verbs contexts";
  }
  SUBCASE("IPoIB children") {
    fixture.k.tells_queue_pairs = false;
    fixture.k.gap = Error(Code::unavailable, "a mount covers another one");
    part = "or not every namespace could be searched";
  }
  SUBCASE("the pods") {
    fixture.pod_of = [](const ib::PciAddress&) -> Result<std::optional<std::string>> {
      return Error(Code::unavailable, "the kubelet does not list any pods yet");
    };
    part = "cannot see whether a pod has it: the kubelet does not list any pods yet";
  }
  const std::string problems = fixture.problems();
  CAPTURE(problems);
  CHECK(contains(problems, part));
  CHECK(fixture.orders() == 0);
}

TEST_CASE("a user that comes while other VFs get their GUIDs keeps its own") {
  ForeignFixture fixture;
  int asked = 0;
  fixture.pod_of = [&](const ib::PciAddress& device) -> Result<std::optional<std::string>> {
    if (device == vf(1) && ++asked > 1) return std::optional<std::string>("team/late");
    return std::optional<std::string>();
  };
  const fake::PciFunction before = fixture.function(1);
  CHECK(contains(fixture.problems(), "the kubelet has given it to pod team/late"));
  CHECK(fixture.function(1) == before);
  CHECK(fixture.binds_of(1) == 0);
  CHECK(fixture.shown(2) == derived(2));
  CHECK(fixture.intents.all()->empty());
}

TEST_CASE("a VF that was refused at the second look is left out of what is begun") {
  ForeignFixture fixture;
  fixture.pod_of = given_to(3, "team/other");
  fixture.pod_of_now = given_to(1, "team/late");
  fixture.k.function_state(vf(2)).rdma_count = 0;  // it is bound again, and nothing comes of it
  CHECK(contains(fixture.problems(), "its driver has made no RDMA device"));
  CHECK(fixture.intents.find(kPf).value()->vfs == std::vector<uint32_t>{0, 2});
}

TEST_CASE("a VF that shows GUIDs of the pool stays as it is where its PF tells none") {
  ForeignFixture fixture;
  fixture.give(1, derived(1));
  fixture.k.bound.clear();
  fixture.k.function_state(vf(1)).node_guid = {};
  fixture.k.function_state(vf(1)).port_guid = {};
  fixture.k.rdma_users_of[vf(1)] = {{.process = 4711}};
  CHECK(fixture.problems() == "");
  CHECK(fixture.binds_of(1) == 0);
  CHECK(fixture.binds_of(0) == 1);
}

TEST_CASE("the GUIDs that a pod of ours has requested are not judged, but those of its VF are") {
  ForeignFixture fixture;
  fixture.give(1, {ib::Guid(0x0011223344556677), ib::Guid(0x0011223344556678)});
  node::Record record = fixture.record_of(vf(1));
  record.spec.guids = Guids{ib::Guid(0x0011223344556677), ib::Guid(0x0011223344556678)};
  SUBCASE("of the pool") { record.original.guids = record.original.pf_configured = derived(1); }
  SUBCASE("of others") { record.original.guids = record.original.pf_configured = foreign(1); }
  fixture.records.write(record).value();
  const bool waits = record.original.guids == foreign(1);
  CHECK(contains(fixture.problems(), "it is in use: a pod has it") == waits);
  CHECK(fixture.shown(1) == record.spec.guids);
}

TEST_CASE("a VF without a driver gets its GUIDs at the PF and no driver, unless a pod has it") {
  for (const bool given : {false, true}) {
    CAPTURE(given);
    ForeignFixture fixture;
    fixture.k.unbind(vf(1));
    fixture.pod_of = [&](const ib::PciAddress& device) -> Result<std::optional<std::string>> {
      return given && device == vf(1) ? std::optional<std::string>("team/a") : std::nullopt;
    };
    CHECK(contains(fixture.problems(), "pod team/a") == given);
    CHECK_FALSE(fixture.function(1).driver);
    CHECK(fixture.function(1).port_guid.value == (given ? foreign(1) : derived(1)).port);
  }
}

TEST_CASE("VFs are made with GUIDs of the pool where the PF remembers others") {
  ForeignFixture fixture;
  fixture.k.remove_vfs(kPf);
  fixture.k.bound.clear();
  fixture.config().vfs = 3;
  CHECK(fixture.problems() == "");
  for (const unsigned i : {0U, 1U, 2U}) {
    CHECK(fixture.shown(i) == derived(i));
    CHECK(fixture.binds_of(i) == 1);
  }
}

TEST_CASE("the number of VFs, their policy and autoprobe stay an administrator's") {
  ForeignFixture fixture;
  fixture.config().vfs = 5;
  fixture.k.function_state(kPf).autoprobe = false;
  const std::string problems = fixture.problems();
  CHECK(contains(problems, "it has 3 VFs, but pfs[0].numVfs is 5"));
  CHECK(contains(problems, "sriov_drivers_autoprobe of 0000:3b:00.0 is 0: set it to 1"));
  CHECK(fixture.orders() == 0);
}

TEST_CASE("where the kernel does not tell of VFs, what they show decides") {
  ForeignFixture fixture;
  fixture.k.tells_vf_settings = false;
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(1) == derived(1));
  const int orders = fixture.k.orders();
  CHECK(fixture.problems() == "");
  CHECK(fixture.k.orders() == orders);
}

// True if the fault has happened.
bool touches_no_used_vf(const User& user, int n, bool killed) {
  using FakeKernel = fake::FakeKernel;
  ForeignFixture fixture;
  user.come(fixture);
  fixture.k.bound.clear();
  const fake::PciFunction before = fixture.function(1);
  if (killed) fixture.k.kill_at(n, FakeKernel::When::after_effect, FakeKernel::Count::calls);
  if (!killed) fixture.k.fail_at(n, FakeKernel::Count::calls);
  try {
    (void)fixture.run();
  } catch (const fake::Killed&) {
  }
  const bool struck = fixture.k.struck();
  fixture.k.heal();
  CHECK(contains(fixture.problems(), user.problem));
  CHECK(fixture.function(1) == before);
  CHECK(fixture.binds_of(1) == 0);
  for (const unsigned i : {0U, 2U}) CHECK(fixture.shown(i) == derived(i));
  user.go(fixture);
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(1) == derived(1));
  return struck;
}

TEST_CASE("whichever call fails or is the last, a VF in use is not touched") {
  int points = 0;
  for (const bool killed : {false, true}) {
    CAPTURE(killed);
    for (int n = 0; touches_no_used_vf(kProcess, n, killed); ++n, ++points) CAPTURE(n);
  }
  CHECK(points > 100);
}

TEST_CASE("the last look at the pods is at a new list") {
  ForeignFixture fixture;
  fixture.pod_of = given_to(3, "team/other");
  fixture.pod_of_now = given_to(1, "team/late");
  const fake::PciFunction before = fixture.function(1);
  CHECK(contains(fixture.problems(), "the kubelet has given it to pod team/late"));
  CHECK(fixture.function(1) == before);
  CHECK(fixture.shown(2) == derived(2));
}

TEST_CASE("a VF without a driver that a pod has waits for the pod's end, unless it was just made") {
  for (const bool rebind : {true, false}) {
    CAPTURE(rebind);
    ForeignFixture fixture;
    fixture.give(1, derived(1));
    fixture.k.unbind(vf(1));
    fixture.pod_of = given_to(1, "team/a");
    Intent intent{kPf, "boot-1", "mlx5_core", {1}};
    intent.rebind = rebind;
    fixture.intents.write(intent).value();
    CHECK(contains(fixture.problems(), "the kubelet has given it to pod team/a") == rebind);
    CHECK(fixture.function(1).driver.has_value() != rebind);
    fixture.pod_of = nullptr;
    CHECK(fixture.problems() == "");
    CHECK(fixture.shown(1) == derived(1));
  }
}

TEST_CASE("a VF whose bind was cut short waits for its user, and the others are bound meanwhile") {
  ForeignFixture fixture;
  for (const unsigned i : {0U, 1U, 2U}) fixture.give(i, derived(i));
  fixture.k.unbind(vf(2));
  fixture.k.bound.clear();
  fixture.k.rdma_users_of[vf(1)] = {{.process = 4711}};
  fixture.intents.write({kPf, "boot-1", "mlx5_core", {1, 2}, false, 1}).value();
  const std::string problems = fixture.problems();
  CHECK(contains(problems, "its last bind was interrupted, and it is bound again as soon as"));
  CHECK(contains(problems, "process 4711"));
  CHECK(fixture.binds_of(1) == 0);
  CHECK(fixture.binds_of(2) == 1);
  CHECK(fixture.intents.find(kPf).value()->interrupted == std::vector<uint32_t>{1});
  CHECK(fixture.problems() == problems);
  fixture.k.rdma_users_of.clear();
  CHECK(fixture.problems() == "");
  CHECK(fixture.binds_of(1) == 1);
  CHECK(fixture.intents.all()->empty());
}

TEST_CASE("a VF whose bind made no device is bound again if no namespace has one") {
  ForeignFixture fixture;
  for (const unsigned i : {0U, 1U, 2U}) fixture.give(i, derived(i));
  fixture.k.function_state(vf(1)).rdma_count = 0;
  fixture.rebind(1, "mlx5_core");
  fixture.k.function_state(vf(1)).rdma_count = 1;
  fixture.k.bound.clear();
  fixture.k.gap = Error(Code::unavailable, "a mount covers another one");
  fixture.intents.write({kPf, "boot-1", "mlx5_core", {1}, false, 1}).value();
  CHECK(contains(fixture.problems(), "a mount covers another one"));
  CHECK(fixture.binds_of(1) == 0);
  fixture.k.gap.reset();
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(1) == derived(1));
}

// True if the kill has happened. The user comes after it.
bool unbinds_no_used_vf(const User& user, int n, fake::FakeKernel::When when) {
  ForeignFixture fixture;
  fixture.k.kill_at(n, when);
  try {
    (void)fixture.run();
  } catch (const fake::Killed&) {
  }
  const bool struck = fixture.k.struck();
  fixture.k.heal();
  if (!fixture.function(1).driver) return struck;  // it has nothing that could be used
  user.come(fixture);
  const fake::PciFunction before = fixture.function(1);
  const int binds = fixture.binds_of(1);
  for (const char* run : {"second", "third"}) {
    CAPTURE(std::string(run));
    (void)fixture.problems();
    CHECK(fixture.function(1) == before);
    CHECK(fixture.binds_of(1) == binds);
    for (const unsigned i : {0U, 2U}) CHECK(fixture.shown(i) == derived(i));
  }
  user.go(fixture);
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(1) == derived(1));
  CHECK_FALSE(fixture.is_deaf(1));
  CHECK(fixture.intents.all()->empty());
  return struck;
}

TEST_CASE("a VF that has a user since a preparation was killed is not unbound") {
  using When = fake::FakeKernel::When;
  int points = 0;
  for (const User& user : kUsers) {
    const std::string name = user.name;
    // The first has a record, which stands above the intent; the other binds by itself.
    if (name == "a pod of ours" || name == "perhaps a virtual machine") continue;
    CAPTURE(name);
    for (const When when : {When::before_effect, When::amid_effect, When::after_effect})
      for (int n = 0; unbinds_no_used_vf(user, n, when); ++n, ++points) CAPTURE(n);
  }
  CHECK(points > 200);
}

}  // namespace
}  // namespace ibpod::agent::prepare
