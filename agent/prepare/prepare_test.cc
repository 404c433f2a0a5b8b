#include "agent/prepare/prepare.h"

#include "agent/prepare/test_prepare_fixture.h"

namespace ibpod::agent::prepare {
namespace {

using node::Guids;

const Guids kAdministrators{ib::Guid(0x0011223344556677), ib::Guid(0x0011223344556678)};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void set_pf_guids(PrepareFixture& fixture, unsigned number, const Guids& guids) {
  const node::Function function = *fixture.k.function(vf(number)).value();
  fixture.k.set_vf_guids(function, guids.node, guids.port).value();
}

// The PF's port carries something else.
void make_ethernet(PrepareFixture& fixture) {
  fixture.k.state.namespaces[fake::kHostId].interfaces.erase("ib0");
  fixture.k.add_netdev("", "eth2");
  fixture.k.interface("", "eth2").function = kPf;
}

void add_address(PrepareFixture& fixture, const std::string& netdev, const char* address) {
  fixture.k.interface("", netdev).addresses.push_back(ip::Prefix::parse(address).value());
}

// Under a bond that has the address.
void enslave(PrepareFixture& fixture, const std::string& netdev) {
  fixture.k.add_netdev("", "bond0");
  add_address(fixture, "bond0", "10.1.2.3/24");
  fixture.k.interface("", netdev).master = fixture.k.interface("", "bond0").id;
}

std::string own_name(PrepareFixture& fixture, const ib::PciAddress& function) {
  return fixture.k.netdevs(node::kHost, function).value().front().name;
}

TEST_CASE("the port GUIDs are those of the SM service's pool, and none while it is away") {
  PrepareFixture fixture;
  fixture.config().vfs = 2;
  bool away = true;
  fixture.pool = [&](const ib::PciAddress& pf, uint32_t number) -> Result<ib::Guid> {
    CHECK(pf == kPf);
    if (away) return Error(Code::unavailable, "no answer");
    return ib::Guid(0x0200000000000100 + number);
  };
  CHECK(contains(fixture.problems(), "get a GUID of the SM service's pool for "));
  for (unsigned number = 0; number < 2; ++number) {
    const auto settings = fixture.k.vf_settings(*fixture.k.function(vf(number)).value());
    REQUIRE(settings);
    CHECK(settings->port_guid.none());
  }
  away = false;
  CHECK(fixture.run().problems.empty());
  for (unsigned number = 0; number < 2; ++number) {
    const auto settings = fixture.k.vf_settings(*fixture.k.function(vf(number)).value());
    REQUIRE(settings);
    CHECK(settings->port_guid == ib::Guid(0x0200000000000100 + number));
  }
  const int orders = fixture.k.orders();
  CHECK(fixture.run().problems.empty());
  CHECK(fixture.k.orders() == orders);
}

TEST_CASE("VFs are made with their GUIDs, policy auto, and are bound once") {
  PrepareFixture fixture;
  fixture.config().vfs = 4;
  const PrepareResult made = fixture.run();
  CHECK(made.problems.empty());
  CHECK(made.done.front() == "0000:3b:00.0: made 4 VFs");
  REQUIRE(fixture.k.pf(kPf).value()->vfs.size() == 4);
  CHECK(fixture.k.pf(kPf).value()->autoprobe);
  REQUIRE(fixture.k.bound.size() == 4);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(fixture.shown(i) == derived(i));
    CHECK(fixture.function(i).driver == "mlx5_core");
    CHECK(fixture.function(i).policy == nl::LinkPolicy::automatic);
    CHECK(fixture.k.bound[i].vf == vf(i));
    CHECK(fixture.k.bound[i].port_guid.value == derived(i).port);
  }
  CHECK(fixture.intents.all()->empty());
}

TEST_CASE("what is prepared is left alone") {
  for (const bool force : {false, true}) {
    PrepareFixture fixture;
    fixture.config().vfs = 4;
    fixture.config().force = force;
    REQUIRE(fixture.problems() == "");
    const int orders = fixture.k.orders();
    CHECK(fixture.problems() == "");
    CHECK(fixture.k.orders() == orders);
  }
}

TEST_CASE("GUIDs are the same after a reboot") {
  PrepareFixture before;
  before.config().vfs = 2;
  before.run();
  PrepareFixture after;
  after.config().vfs = 2;
  after.run("boot-2");
  CHECK(before.shown(1) == after.shown(1));
}

// As seen: what pods had left when the power failed kept their VFs without driver and GUID.
TEST_CASE("records of the last boot keep nothing from its VFs, and a damaged one keeps its own") {
  PrepareFixture fixture;
  fixture.config().vfs = 3;
  REQUIRE(fixture.problems() == "");
  for (unsigned i = 0; i < 3; ++i) fixture.write_record(vf(i), "boot-0");
  fixture.folder.write("attachments/" + vf(2).text() + "/container:net1.json", "{");
  SUBCASE("its VFs are gone") { fixture.k.lose_power(); }
  SUBCASE("an administrator has made them again") {
    fixture.k.lose_power();
    fixture.make_bare_vfs(3);
  }
  CHECK(fixture.problems() == "");
  for (unsigned i = 0; i < 2; ++i) CHECK(fixture.shown(i) == derived(i));
  CHECK(fixture.shown(2) != derived(2));
  CHECK(fixture.k.pf(kPf).value()->autoprobe);
  CHECK(fixture.intents.all()->empty());
}

TEST_CASE("a GUID of a record is in use in its boot only") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(2);
  node::Record record = fixture.record_of(vf(1));
  record.spec.guids = derived(0);
  SUBCASE("this one") {
    fixture.records.write(record).value();
    CHECK(contains(fixture.problems(), "in use by 0000:3b:00.2"));
  }
  SUBCASE("the last one") {
    record.boot_id = "boot-0";
    fixture.records.write(record).value();
    CHECK(fixture.problems() == "");
    CHECK(fixture.shown(0) == derived(0));
  }
}

TEST_CASE("VFs of others that lack a GUID get one and are bound once more") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(3);
  CHECK(fixture.problems() == "");
  for (unsigned i = 0; i < 3; ++i) CHECK(fixture.shown(i) == derived(i));
  CHECK(fixture.k.bound.size() == 3);
}

TEST_CASE("what an administrator has set stays, and gives way to force") {
  for (const bool force : {false, true}) {
    CAPTURE(force);
    PrepareFixture fixture;
    fixture.make_bare_vfs(3);
    set_pf_guids(fixture, 1, kAdministrators);
    fixture.k.unbind(vf(1));
    REQUIRE(fixture.k.bind(vf(1), "mlx5_core"));
    fixture.config().force = force;
    CHECK(fixture.problems() == "");
    CHECK(fixture.shown(0) == derived(0));
    CHECK(fixture.shown(1) == (force ? derived(1) : kAdministrators));
    CHECK(fixture.function(1).policy ==
          (force ? nl::LinkPolicy::automatic : nl::LinkPolicy::disable));
  }
}

TEST_CASE("a GUID that was set through the PF is kept, and applies when the VF is bound again") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(2);
  set_pf_guids(fixture, 0, kAdministrators);
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(0) == kAdministrators);
}

TEST_CASE("half a pair of GUIDs is completed") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(1);
  set_pf_guids(fixture, 0, {ib::kNoGuid, kAdministrators.port});
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(0) == Guids{derived(0).node, kAdministrators.port});
}

TEST_CASE("another number of VFs than the configuration's stays without force") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(2);
  fixture.config().vfs = 4;
  CHECK(fixture.problems() ==
        "0000:3b:00.0: it has 2 VFs, but pfs[0].numVfs is 4: existing VFs are kept; set "
        "\"force\": true to replace them\n");
  CHECK(fixture.k.pf(kPf).value()->vfs.size() == 2);
  CHECK(fixture.shown(1) == derived(1));
  fixture.config().force = true;
  CHECK(fixture.problems() == "");
  CHECK(fixture.k.pf(kPf).value()->vfs.size() == 4);
  CHECK(fixture.shown(3) == derived(3));
  fixture.config().vfs = 0;
  CHECK(fixture.problems() == "");
  CHECK(fixture.k.pf(kPf).value()->vfs.empty());
}

TEST_CASE("what cannot be made is refused with what would help, and nothing changes") {
  const struct {
    const char* name;
    void (*set)(PrepareFixture&);
    const char *part, *remedy;
  } cases[] = {
      {"too many", [](PrepareFixture& fixture) { fixture.k.function_state(kPf).total_vfs = 8; },
       "16 VFs are wanted, but 8 are the most that it can make (sriov_totalvfs)",
       "mstconfig -d 0000:3b:00.0 set NUM_OF_VFS=16, then reboot"},
      {"SR-IOV off", [](PrepareFixture& fixture) { fixture.k.function_state(kPf).total_vfs = 0; },
       "firmware has SR-IOV off (sriov_totalvfs is 0 or missing)",
       "mstconfig -d 0000:3b:00.0 set SRIOV_EN=1 NUM_OF_VFS=16, then reboot"},
      {"Ethernet", make_ethernet, "its port is in Ethernet mode (interface eth2)",
       "mstconfig -d 0000:3b:00.0 set LINK_TYPE_P1=1, then reboot"},
      {"no interface",
       [](PrepareFixture& fixture) {
         fixture.k.state.namespaces[fake::kHostId].interfaces.erase("ib0");
       },
       "it has no IPoIB interface in the host's namespace", "load its driver and ib_ipoib"},
      {"an address", [](PrepareFixture& fixture) { add_address(fixture, "ib0", "10.1.2.3/24"); },
       "the host uses it (ib0 has the address 10.1.2.3/24)", "set allowHostUse in pfs[0]"},
      {"a default route",
       [](PrepareFixture& fixture) {
         nl::Route route;
         route.destination = ip::Prefix::parse("0.0.0.0/0").value();
         fixture.k.interface("", "ib0").routes = {route};
       },
       "the host uses it (ib0 carries the default route)", "set allowHostUse in pfs[0]"},
      {"a bond", [](PrepareFixture& fixture) { enslave(fixture, "ib0"); },
       "the host uses it (ib0 is a port of bond0)", "set allowHostUse in pfs[0]"},
      {"a child in a bond",
       [](PrepareFixture& fixture) {
         fixture.k.add_child("", "ib0", "ib0.8001", ib::PKey(0x8001));
         enslave(fixture, "ib0.8001");
       },
       "the host uses it (its child ib0.8001 is a port of bond0)", "set allowHostUse in pfs[0]"},
      {"an address of a child",
       [](PrepareFixture& fixture) {
         fixture.k.add_child("", "ib0", "ib0.8001", ib::PKey(0x8001));
         add_address(fixture, "ib0.8001", "fd00::1/64");
       },
       "the host uses it (its child ib0.8001 has the address fd00::1/64)",
       "set allowHostUse in pfs[0]"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    PrepareFixture fixture;
    fixture.config().vfs = 16;
    entry.set(fixture);
    const std::string problems = fixture.problems();
    CAPTURE(problems);
    CHECK(contains(problems, entry.part));
    CHECK(contains(problems, entry.remedy));
    CHECK(fixture.k.orders() == 0);
  }
}

TEST_CASE("a PF that the host uses has its VFs made where that is allowed") {
  PrepareFixture fixture;
  fixture.config().vfs = 2;
  fixture.config().allow_host_use = true;
  add_address(fixture, "ib0", "10.1.2.3/24");
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(1) == derived(1));
}

TEST_CASE(
    "nothing of a PF that the host uses is touched, and that is told where anything is missing") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(2);
  add_address(fixture, "ib0", "10.1.2.3/24");
  CHECK(fixture.problems() ==
        "0000:3b:00.0: the host uses it (ib0 has the address 10.1.2.3/24), so neither it nor its "
        "VFs are touched: set allowHostUse in pfs[0] if VFs may be made and removed, and be given "
        "GUIDs, all the same\n");
  CHECK(fixture.k.orders() == 0);
  CHECK(fixture.k.bound.empty());
  fixture.config().allow_host_use = true;
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(1) == derived(1));
  fixture.config().allow_host_use = false;
  CHECK(fixture.problems() == "");
}

TEST_CASE("a link-local address does not count as use") {
  PrepareFixture fixture;
  fixture.config().vfs = 1;
  add_address(fixture, "ib0", "fe80::1/64");
  CHECK(fixture.problems() == "");
}

TEST_CASE("a VF in use is not touched, and the others are") {
  const struct {
    const char* name;
    void (*set)(PrepareFixture&);
    const char* problem;
  } cases[] = {
      {"a record", [](PrepareFixture& fixture) { fixture.write_record(vf(1)); }, ""},
      {"a namespace",
       [](PrepareFixture& fixture) {
         const node::Namespace pod = fixture.k.make_namespace("/run/netns/pod");
         const auto netdev = fixture.k.netdevs(node::kHost, vf(1)).value().front();
         fixture.k.move_netdev(node::kHost, netdev.index, pod, "net1").value();
       },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: its interface is not in the host's "
       "namespace\n"},
      {"a child",
       [](PrepareFixture& fixture) {
         fixture.k.add_child("", own_name(fixture, vf(1)), "child", ib::PKey(0x8001));
       },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: it has the IPoIB child "
       "child\n"},
      {"an address",
       [](PrepareFixture& fixture) {
         add_address(fixture, own_name(fixture, vf(1)), "10.1.2.3/24");
       },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: ib2 has the address 10.1.2.3/24\n"},
      {"a bond", [](PrepareFixture& fixture) { enslave(fixture, own_name(fixture, vf(1))); },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: ib2 is a port of bond0\n"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    PrepareFixture fixture;
    fixture.make_bare_vfs(3);
    entry.set(fixture);
    const fake::PciFunction before = fixture.function(1);
    CHECK(fixture.problems() == entry.problem);
    CHECK(fixture.function(1) == before);
    CHECK(fixture.shown(0) == derived(0));
    CHECK(fixture.shown(2) == derived(2));
    for (const fake::Bound& bound : fixture.k.bound) CHECK(bound.vf != vf(1));
  }
}

TEST_CASE("an RDMA device in a pod is not evaluated, forced or not") {
  for (const bool force : {false, true}) {
    PrepareFixture fixture;
    fixture.make_bare_vfs(1);
    fixture.config().force = force;
    const node::Namespace pod = fixture.k.make_namespace("/run/netns/pod");
    fixture.k
        .move_rdma(node::kHost, fixture.k.rdma_devices(node::kHost, vf(0)).value().front().name,
                   pod)
        .value();
    const int orders = fixture.k.orders();
    CHECK(fixture.problems() == "");
    CHECK(fixture.k.orders() == orders);
  }
}

TEST_CASE("VFs are not removed while one of them is in use, force or not") {
  const struct {
    const char* name;
    void (*set)(PrepareFixture&);
    const char* part;
  } cases[] = {
      {"a record", [](PrepareFixture& fixture) { fixture.write_record(vf(1)); },
       "in use: a pod has it"},
      {"a virtual machine",
       [](PrepareFixture& fixture) {
         fixture.k.unbind(vf(1));
         fixture.k.bind(vf(1), "vfio-pci").value();
       },
       "in use: it is bound to vfio-pci"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    PrepareFixture fixture;
    fixture.make_bare_vfs(2);
    fixture.config().vfs = 4;
    fixture.config().force = true;
    entry.set(fixture);
    CHECK(contains(fixture.problems(), entry.part));
    CHECK(fixture.k.pf(kPf).value()->vfs.size() == 2);
  }
}

TEST_CASE("with autoprobe off by an administrator VFs get GUIDs and no driver; force binds them") {
  for (const bool force : {false, true}) {
    CAPTURE(force);
    PrepareFixture fixture;
    fixture.config().vfs = 2;
    fixture.config().force = force;
    fixture.k.function_state(kPf).autoprobe = false;
    CHECK(fixture.problems() == "");
    CHECK(fixture.function(1).port_guid.value == derived(1).port);
    CHECK(fixture.function(1).driver.has_value() == force);
    CHECK(fixture.k.pf(kPf).value()->autoprobe == force);
  }
}

TEST_CASE("a VF without a driver, or a virtual machine's, gets a GUID and no other driver") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(2);
  fixture.k.unbind(vf(0));
  fixture.k.unbind(vf(1));
  fixture.k.bind(vf(1), "vfio-pci").value();
  CHECK(fixture.problems() == "");
  for (const unsigned i : {0U, 1U}) CHECK(fixture.function(i).port_guid.value == derived(i).port);
  CHECK_FALSE(fixture.function(0).driver);
  CHECK(fixture.function(1).driver == "vfio-pci");
}

TEST_CASE("a GUID that is in use is not given") {
  const struct {
    const char* name;
    void (*set)(PrepareFixture&);
    const char* owner;
  } cases[] = {
      {"told",
       [](PrepareFixture& fixture) {
         set_pf_guids(fixture, 1, {derived(0).port, derived(0).port});
       },
       "in use by 0000:3b:00.2"},
      {"another PF's",
       [](PrepareFixture& fixture) {
         fixture.k.add_pf(fake::pf_address(3), derived(0).node);
         fixture.k.bind(fake::pf_address(3), "mlx5_core").value();
       },
       "in use by 0000:3e:00.0"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    PrepareFixture fixture;
    fixture.make_bare_vfs(2);
    entry.set(fixture);
    const std::string problems = fixture.problems();
    CAPTURE(problems);
    CHECK(contains(problems, entry.owner));
    CHECK(fixture.shown(0)->none());
    CHECK(fixture.function(0).driver == "mlx5_core");
    CHECK_FALSE(fixture.shown(1)->none());
  }
}

TEST_CASE("a kernel that cannot tell of VFs prepares them all the same") {
  PrepareFixture fixture;
  fixture.config().vfs = 3;
  fixture.k.tells_vf_settings = false;
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(2) == derived(2));
  const int orders = fixture.k.orders();
  CHECK(fixture.problems() == "");
  CHECK(fixture.k.orders() == orders);
}

TEST_CASE("the first entry that chooses a PF has it, and one that chooses none is told") {
  PrepareFixture fixture;
  fixture.config().vfs = 1;
  fixture.configs.push_back(fixture.config());
  fixture.configs.back().path = "pfs[1]";
  fixture.configs.back().vfs = 3;
  PfConfig unmatched;
  unmatched.path = "pfs[2]";
  unmatched.pf_names = {"ib7"};
  fixture.configs.push_back(unmatched);
  CHECK(fixture.problems() == "pfs[2]: it selects no PF of this node: it has 0000:3b:00.0 ib0\n");
  CHECK(fixture.k.pf(kPf).value()->vfs.size() == 1);
}

TEST_CASE("a preparation that cannot go on orders nothing, and says the same each time") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(3);
  fixture.config().vfs = 4;
  add_address(fixture, own_name(fixture, vf(1)), "10.1.2.3/24");
  fixture.write_record(vf(2));
  fixture.configs.push_back(fixture.config());
  fixture.configs.back().path = "pfs[1]";
  fixture.configs.back().vendor = 0x1077;
  const std::string first = fixture.problems();
  CHECK_FALSE(first.empty());
  const int orders = fixture.k.orders();
  for (int i = 0; i < 3; ++i) CHECK(fixture.problems() == first);
  CHECK(fixture.k.orders() == orders);
}

TEST_CASE("an intent of another boot counts for nothing") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(1);
  fixture.k.unbind(vf(0));
  fixture.k.function_state(kPf).autoprobe = false;
  fixture.intents.write({kPf, "boot-0", "mlx5_core", {0}, false}).value();
  CHECK(fixture.problems() == "");
  CHECK_FALSE(fixture.function(0).driver);
  CHECK_FALSE(fixture.k.pf(kPf).value()->autoprobe);
  CHECK(fixture.intents.all()->empty());
}

TEST_CASE("an intent is finished though the configuration names its PF no more") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(1);
  fixture.k.unbind(vf(0));
  fixture.k.function_state(kPf).autoprobe = false;
  fixture.intents.write({kPf, "boot-1", "mlx5_core", {0, 1}, false}).value();
  fixture.configs.clear();
  CHECK(fixture.problems() == "");
  CHECK(fixture.shown(0) == derived(0));
  CHECK(fixture.k.pf(kPf).value()->autoprobe);
}

TEST_CASE("a VF whose bind was cut short is bound once more, and the others are left alone") {
  PrepareFixture fixture;
  fixture.config().vfs = 2;
  REQUIRE(fixture.problems() == "");
  fixture.k.bound.clear();
  fixture.intents.write({kPf, "boot-1", "mlx5_core", {0, 1}, false, 1}).value();
  CHECK(fixture.problems() == "");
  REQUIRE(fixture.k.bound.size() == 1);
  CHECK(fixture.k.bound.front().vf == vf(1));
  CHECK(fixture.shown(1) == derived(1));
  CHECK(fixture.intents.all()->empty());
}

TEST_CASE("a VF that was bound is not bound again because another one cannot be") {
  PrepareFixture fixture;
  fixture.make_bare_vfs(2);
  fixture.k.unbind(vf(0));
  fixture.k.function_state(vf(0)).rdma_count = 0;  // it is bound, and nothing comes of it
  fixture.k.unbind(vf(1));
  fixture.intents.write({kPf, "boot-1", "mlx5_core", {0, 1}, false}).value();
  CHECK(contains(fixture.problems(), "its driver has made no RDMA device"));
  REQUIRE(fixture.k.bound.size() == 2);
  (void)fixture.problems();
  CHECK(fixture.k.bound.size() == 2);
}

TEST_CASE("a damaged intent is told with its file, and its PF is left alone") {
  PrepareFixture fixture;
  fixture.config().vfs = 1;
  fixture.intents.write({kPf, "boot-1", "mlx5_core", {0}, false}).value();
  const Path file = fixture.folder.path() / "preparation" / (kPf.text() + ".json");
  fixture.folder.write("preparation/" + kPf.text() + ".json", "{");
  CHECK(contains(fixture.problems(), file.string() + " is damaged: remove it"));
  CHECK(fixture.k.orders() == 0);
}

TEST_CASE("an intent of a newer version is told with its file, and it and its PF are left alone") {
  PrepareFixture fixture;
  fixture.config().vfs = 1;
  std::filesystem::create_directory(fixture.folder.path() / "preparation");
  const Path file = fixture.folder.write("preparation/" + kPf.text() + ".json",
                                         R"({"version":2,"steps":["bind"]})");
  CHECK(contains(fixture.problems(),
                 file.string() + ": version 2 is too new: this program reads up to version 1; run "
                                 "the newer ibpod that wrote it (the file is unchanged)"));
  CHECK(fixture.k.orders() == 0);
  CHECK(read_file(file).value() == R"({"version":2,"steps":["bind"]})");
}

TEST_CASE("an intent says which GUIDs give way, and with a wrong word it is damaged") {
  PrepareFixture fixture;
  const Intent intent{kPf, "boot-1", "mlx5_core", {0}, false, {}, true, {0}, true};
  fixture.intents.write(intent).value();
  CHECK(fixture.intents.find(kPf).value() == intent);
  fixture.folder.write("preparation/" + kPf.text() + ".json",
                       R"({"version":1,"bootId":"boot-1","driver":"mlx5_core","vfs":[0],)"
                       R"("force":false,"guids":"all"})");
  CHECK(contains(fixture.problems(), "is damaged: remove it: guids: expected keep or pool"));
}

TEST_CASE("an intent of the first version is finished") {
  const Path kept = "tests/data/first_version/node";
  const Intent intent{kPf, "5f2c7f04-9f1e-4c63-8d8a-1f7f2c0a9b1e", "mlx5_core", {0, 1, 2}, true, 1};
  CHECK(Intents(kept).find(kPf).value() == intent);
  PrepareFixture fixture;
  std::filesystem::copy(kept / "preparation", fixture.folder.path() / "preparation");
  fixture.configs.clear();
  fixture.k.function_state(kPf).autoprobe = false;
  fixture.k.make_vfs(kPf, 4);
  CHECK(fixture.run(intent.boot_id).problems.empty());
  for (const unsigned number : {0U, 1U, 2U}) CHECK(fixture.shown(number) == derived(number));
  CHECK_FALSE(fixture.shown(3));
  CHECK(fixture.function(0).driver == "mlx5_core");
  CHECK(fixture.k.function_state(kPf).autoprobe);
  CHECK(fixture.intents.all()->empty());
}

}  // namespace
}  // namespace ibpod::agent::prepare
