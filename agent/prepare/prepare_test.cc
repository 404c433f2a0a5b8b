#include "agent/prepare/prepare.h"

#include "agent/prepare/test_prepare_fixture.h"

namespace ibpod::agent {
namespace {

using node::Guids;

const Guids kAdministrators{ib::Guid(0x0011223344556677), ib::Guid(0x0011223344556678)};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void tell(Bed& bed, unsigned number, const Guids& guids) {
  const node::Function function = *bed.k.function(vf(number)).value();
  bed.k.set_vf_guids(function, guids.node, guids.port).value();
}

// The PF's port carries something else.
void make_ethernet(Bed& bed) {
  bed.k.state.namespaces[fake::kHostId].interfaces.erase("ib0");
  bed.k.add_netdev("", "eth2");
  bed.k.interface("", "eth2").function = kPf;
}

void add_address(Bed& bed, const std::string& netdev, const char* address) {
  bed.k.interface("", netdev).addresses.push_back(ip::Prefix::parse(address).value());
}

// Under a bond that has the address.
void enslave(Bed& bed, const std::string& netdev) {
  bed.k.add_netdev("", "bond0");
  add_address(bed, "bond0", "10.1.2.3/24");
  bed.k.interface("", netdev).master = bed.k.interface("", "bond0").id;
}

std::string own_name(Bed& bed, const ib::PciAddress& function) {
  return bed.k.netdevs(node::kHost, function).value().front().name;
}

TEST_CASE("the port GUIDs are those of the SM service's pool, and none while it is away") {
  Bed bed;
  bed.config().vfs = 2;
  bool away = true;
  bed.pool = [&](const ib::PciAddress& pf, uint32_t number) -> Result<ib::Guid> {
    CHECK(pf == kPf);
    if (away) return Error(Code::unavailable, "nobody answers");
    return ib::Guid(0x0200000000000100 + number);
  };
  CHECK(contains(bed.problems(), "a GUID of the SM service's pool for "));
  for (unsigned number = 0; number < 2; ++number) {
    const auto told = bed.k.vf_settings(*bed.k.function(vf(number)).value());
    REQUIRE(told);
    CHECK(told->port_guid.none());
  }
  away = false;
  CHECK(bed.run().problems.empty());
  for (unsigned number = 0; number < 2; ++number) {
    const auto told = bed.k.vf_settings(*bed.k.function(vf(number)).value());
    REQUIRE(told);
    CHECK(told->port_guid == ib::Guid(0x0200000000000100 + number));
  }
  const int orders = bed.k.orders();
  CHECK(bed.run().problems.empty());
  CHECK(bed.k.orders() == orders);
}

TEST_CASE("VFs are made with their GUIDs, policy auto, and are bound once") {
  Bed bed;
  bed.config().vfs = 4;
  const Preparation made = bed.run();
  CHECK(made.problems.empty());
  CHECK(made.done.front() == "0000:3b:00.0: made 4 VFs");
  REQUIRE(bed.k.pf(kPf).value()->vfs.size() == 4);
  CHECK(bed.k.pf(kPf).value()->autoprobe);
  REQUIRE(bed.k.bound.size() == 4);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(bed.shown(i) == derived(i));
    CHECK(bed.function(i).driver == "mlx5_core");
    CHECK(bed.function(i).policy == nl::LinkPolicy::automatic);
    CHECK(bed.k.bound[i].vf == vf(i));
    CHECK(bed.k.bound[i].port_guid.value == derived(i).port);
  }
  CHECK(bed.intents.all()->empty());
}

TEST_CASE("what is prepared is left alone") {
  for (const bool force : {false, true}) {
    Bed bed;
    bed.config().vfs = 4;
    bed.config().force = force;
    REQUIRE(bed.problems() == "");
    const int orders = bed.k.orders();
    CHECK(bed.problems() == "");
    CHECK(bed.k.orders() == orders);
  }
}

TEST_CASE("GUIDs are the same after a reboot") {
  Bed before;
  before.config().vfs = 2;
  before.run();
  Bed after;
  after.config().vfs = 2;
  after.run("boot-2");
  CHECK(before.shown(1) == after.shown(1));
}

// As seen: what pods had left when the power failed kept their VFs without driver and GUID.
TEST_CASE("records of the last boot keep nothing from its VFs, and a damaged one keeps its own") {
  Bed bed;
  bed.config().vfs = 3;
  REQUIRE(bed.problems() == "");
  for (unsigned i = 0; i < 3; ++i) bed.write_record(vf(i), "boot-0");
  bed.folder.write("attachments/" + vf(2).text() + "/container:net1.json", "{");
  SUBCASE("its VFs are gone") { bed.k.lose_power(); }
  SUBCASE("somebody has made them anew") {
    bed.k.lose_power();
    bed.make_bare_vfs(3);
  }
  CHECK(bed.problems() == "");
  for (unsigned i = 0; i < 2; ++i) CHECK(bed.shown(i) == derived(i));
  CHECK(bed.shown(2) != derived(2));
  CHECK(bed.k.pf(kPf).value()->autoprobe);
  CHECK(bed.intents.all()->empty());
}

TEST_CASE("a GUID of a record is in use in its boot only") {
  Bed bed;
  bed.make_bare_vfs(2);
  node::Record record = bed.record_of(vf(1));
  record.wanted.guids = derived(0);
  SUBCASE("this one") {
    bed.records.write(record).value();
    CHECK(contains(bed.problems(), "in use by 0000:3b:00.2"));
  }
  SUBCASE("the last one") {
    record.boot_id = "boot-0";
    bed.records.write(record).value();
    CHECK(bed.problems() == "");
    CHECK(bed.shown(0) == derived(0));
  }
}

TEST_CASE("VFs of others that lack a GUID get one and are bound once more") {
  Bed bed;
  bed.make_bare_vfs(3);
  CHECK(bed.problems() == "");
  for (unsigned i = 0; i < 3; ++i) CHECK(bed.shown(i) == derived(i));
  CHECK(bed.k.bound.size() == 3);
}

TEST_CASE("what an administrator has set stays, and gives way to force") {
  for (const bool force : {false, true}) {
    CAPTURE(force);
    Bed bed;
    bed.make_bare_vfs(3);
    tell(bed, 1, kAdministrators);
    bed.k.unbind(vf(1));
    REQUIRE(bed.k.bind(vf(1), "mlx5_core"));
    bed.config().force = force;
    CHECK(bed.problems() == "");
    CHECK(bed.shown(0) == derived(0));
    CHECK(bed.shown(1) == (force ? derived(1) : kAdministrators));
    CHECK(bed.function(1).policy == (force ? nl::LinkPolicy::automatic : nl::LinkPolicy::disable));
  }
}

TEST_CASE("a GUID that the PF was told is kept, and counts when the VF is bound anew") {
  Bed bed;
  bed.make_bare_vfs(2);
  tell(bed, 0, kAdministrators);
  CHECK(bed.problems() == "");
  CHECK(bed.shown(0) == kAdministrators);
}

TEST_CASE("half a pair of GUIDs is completed") {
  Bed bed;
  bed.make_bare_vfs(1);
  tell(bed, 0, {ib::kNoGuid, kAdministrators.port});
  CHECK(bed.problems() == "");
  CHECK(bed.shown(0) == Guids{derived(0).node, kAdministrators.port});
}

TEST_CASE("another number of VFs than the configuration's stays without force") {
  Bed bed;
  bed.make_bare_vfs(2);
  bed.config().vfs = 4;
  CHECK(bed.problems() ==
        "0000:3b:00.0: it has 2 VFs where pfs[0].numVfs is 4: they stay, as somebody has made "
        "them; set force to have them removed and made anew\n");
  CHECK(bed.k.pf(kPf).value()->vfs.size() == 2);
  CHECK(bed.shown(1) == derived(1));
  bed.config().force = true;
  CHECK(bed.problems() == "");
  CHECK(bed.k.pf(kPf).value()->vfs.size() == 4);
  CHECK(bed.shown(3) == derived(3));
  bed.config().vfs = 0;
  CHECK(bed.problems() == "");
  CHECK(bed.k.pf(kPf).value()->vfs.empty());
}

TEST_CASE("what cannot be made is refused with what would help, and nothing changes") {
  const struct {
    const char* name;
    void (*set)(Bed&);
    const char *part, *remedy;
  } cases[] = {
      {"too many", [](Bed& bed) { bed.k.function_state(kPf).total_vfs = 8; },
       "16 VFs are wanted, but 8 are the most that it can make (sriov_totalvfs)",
       "mstconfig -d 0000:3b:00.0 set NUM_OF_VFS=16, then reboot"},
      {"SR-IOV off", [](Bed& bed) { bed.k.function_state(kPf).total_vfs = 0; },
       "firmware has SR-IOV off (sriov_totalvfs is 0 or missing)",
       "mstconfig -d 0000:3b:00.0 set SRIOV_EN=1 NUM_OF_VFS=16, then reboot"},
      {"Ethernet", make_ethernet, "its port is in Ethernet mode (interface eth2)",
       "mstconfig -d 0000:3b:00.0 set LINK_TYPE_P1=1, then reboot"},
      {"no interface",
       [](Bed& bed) { bed.k.state.namespaces[fake::kHostId].interfaces.erase("ib0"); },
       "it has no IPoIB interface in the host's namespace", "load its driver and ib_ipoib"},
      {"an address", [](Bed& bed) { add_address(bed, "ib0", "10.1.2.3/24"); },
       "the host uses it (ib0 has the address 10.1.2.3/24)", "set allowHostUse in pfs[0]"},
      {"a default route",
       [](Bed& bed) {
         nl::Route route;
         route.destination = ip::Prefix::parse("0.0.0.0/0").value();
         bed.k.interface("", "ib0").routes = {route};
       },
       "the host uses it (ib0 carries the default route)", "set allowHostUse in pfs[0]"},
      {"a bond", [](Bed& bed) { enslave(bed, "ib0"); }, "the host uses it (ib0 is a port of bond0)",
       "set allowHostUse in pfs[0]"},
      {"a child in a bond",
       [](Bed& bed) {
         bed.k.add_child("", "ib0", "ib0.8001", ib::PKey(0x8001));
         enslave(bed, "ib0.8001");
       },
       "the host uses it (its child ib0.8001 is a port of bond0)", "set allowHostUse in pfs[0]"},
      {"an address of a child",
       [](Bed& bed) {
         bed.k.add_child("", "ib0", "ib0.8001", ib::PKey(0x8001));
         add_address(bed, "ib0.8001", "fd00::1/64");
       },
       "the host uses it (its child ib0.8001 has the address fd00::1/64)",
       "set allowHostUse in pfs[0]"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    Bed bed;
    bed.config().vfs = 16;
    entry.set(bed);
    const std::string problems = bed.problems();
    CAPTURE(problems);
    CHECK(contains(problems, entry.part));
    CHECK(contains(problems, entry.remedy));
    CHECK(bed.k.orders() == 0);
  }
}

TEST_CASE("a PF that the host uses has its VFs made where that is allowed") {
  Bed bed;
  bed.config().vfs = 2;
  bed.config().allow_host_use = true;
  add_address(bed, "ib0", "10.1.2.3/24");
  CHECK(bed.problems() == "");
  CHECK(bed.shown(1) == derived(1));
}

TEST_CASE(
    "nothing of a PF that the host uses is touched, and that is told where anything is missing") {
  Bed bed;
  bed.make_bare_vfs(2);
  add_address(bed, "ib0", "10.1.2.3/24");
  CHECK(bed.problems() ==
        "0000:3b:00.0: the host uses it (ib0 has the address 10.1.2.3/24), so neither it nor its "
        "VFs are touched: set allowHostUse in pfs[0] if VFs may be made and removed, and be given "
        "GUIDs, all the same\n");
  CHECK(bed.k.orders() == 0);
  CHECK(bed.k.bound.empty());
  bed.config().allow_host_use = true;
  CHECK(bed.problems() == "");
  CHECK(bed.shown(1) == derived(1));
  bed.config().allow_host_use = false;
  CHECK(bed.problems() == "");
}

TEST_CASE("a link-local address is nobody's use") {
  Bed bed;
  bed.config().vfs = 1;
  add_address(bed, "ib0", "fe80::1/64");
  CHECK(bed.problems() == "");
}

TEST_CASE("a VF in use is not touched, and the others are") {
  const struct {
    const char* name;
    void (*set)(Bed&);
    const char* problem;
  } cases[] = {
      {"a record", [](Bed& bed) { bed.write_record(vf(1)); }, ""},
      {"a namespace",
       [](Bed& bed) {
         const node::Namespace pod = bed.k.make_namespace("/run/netns/pod");
         const auto netdev = bed.k.netdevs(node::kHost, vf(1)).value().front();
         bed.k.move_netdev(node::kHost, netdev.index, pod, "net1").value();
       },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: its interface is not in the host's "
       "namespace\n"},
      {"a child",
       [](Bed& bed) { bed.k.add_child("", own_name(bed, vf(1)), "child", ib::PKey(0x8001)); },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: somebody has made the IPoIB child "
       "child\n"},
      {"an address", [](Bed& bed) { add_address(bed, own_name(bed, vf(1)), "10.1.2.3/24"); },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: ib2 has the address 10.1.2.3/24\n"},
      {"a bond", [](Bed& bed) { enslave(bed, own_name(bed, vf(1))); },
       "0000:3b:00.0: 0000:3b:00.2: it is in use: ib2 is a port of bond0\n"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    Bed bed;
    bed.make_bare_vfs(3);
    entry.set(bed);
    const fake::PciFunction before = bed.function(1);
    CHECK(bed.problems() == entry.problem);
    CHECK(bed.function(1) == before);
    CHECK(bed.shown(0) == derived(0));
    CHECK(bed.shown(2) == derived(2));
    for (const fake::Bound& bound : bed.k.bound) CHECK(bound.vf != vf(1));
  }
}

TEST_CASE("an RDMA device in a pod is nobody's to judge, forced or not") {
  for (const bool force : {false, true}) {
    Bed bed;
    bed.make_bare_vfs(1);
    bed.config().force = force;
    const node::Namespace pod = bed.k.make_namespace("/run/netns/pod");
    bed.k.move_rdma(node::kHost, bed.k.rdma_devices(node::kHost, vf(0)).value().front().name, pod)
        .value();
    const int orders = bed.k.orders();
    CHECK(bed.problems() == "");
    CHECK(bed.k.orders() == orders);
  }
}

TEST_CASE("VFs are not removed while one of them is in use, force or not") {
  const struct {
    const char* name;
    void (*set)(Bed&);
    const char* part;
  } cases[] = {
      {"a record", [](Bed& bed) { bed.write_record(vf(1)); }, "in use: a pod has it"},
      {"a virtual machine",
       [](Bed& bed) {
         bed.k.unbind(vf(1));
         bed.k.bind(vf(1), "vfio-pci").value();
       },
       "in use: it is bound to vfio-pci"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    Bed bed;
    bed.make_bare_vfs(2);
    bed.config().vfs = 4;
    bed.config().force = true;
    entry.set(bed);
    CHECK(contains(bed.problems(), entry.part));
    CHECK(bed.k.pf(kPf).value()->vfs.size() == 2);
  }
}

TEST_CASE("with autoprobe off by an administrator VFs get GUIDs and no driver; force binds them") {
  for (const bool force : {false, true}) {
    CAPTURE(force);
    Bed bed;
    bed.config().vfs = 2;
    bed.config().force = force;
    bed.k.function_state(kPf).autoprobe = false;
    CHECK(bed.problems() == "");
    CHECK(bed.function(1).port_guid.value == derived(1).port);
    CHECK(bed.function(1).driver.has_value() == force);
    CHECK(bed.k.pf(kPf).value()->autoprobe == force);
  }
}

TEST_CASE("a VF without a driver, or a virtual machine's, gets a GUID and no other driver") {
  Bed bed;
  bed.make_bare_vfs(2);
  bed.k.unbind(vf(0));
  bed.k.unbind(vf(1));
  bed.k.bind(vf(1), "vfio-pci").value();
  CHECK(bed.problems() == "");
  for (const unsigned i : {0U, 1U}) CHECK(bed.function(i).port_guid.value == derived(i).port);
  CHECK_FALSE(bed.function(0).driver);
  CHECK(bed.function(1).driver == "vfio-pci");
}

TEST_CASE("a GUID that somebody has already is not given") {
  const struct {
    const char* name;
    void (*set)(Bed&);
    const char* owner;
  } cases[] = {
      {"told",
       [](Bed& bed) {
         tell(bed, 1, {derived(0).port, derived(0).port});
       },
       "in use by 0000:3b:00.2"},
      {"another PF's",
       [](Bed& bed) {
         bed.k.add_pf(fake::pf_address(3), derived(0).node);
         bed.k.bind(fake::pf_address(3), "mlx5_core").value();
       },
       "in use by 0000:3e:00.0"},
  };
  for (const auto& entry : cases) {
    CAPTURE(entry.name);
    Bed bed;
    bed.make_bare_vfs(2);
    entry.set(bed);
    const std::string problems = bed.problems();
    CAPTURE(problems);
    CHECK(contains(problems, entry.owner));
    CHECK(bed.shown(0)->none());
    CHECK(bed.function(0).driver == "mlx5_core");
    CHECK_FALSE(bed.shown(1)->none());
  }
}

TEST_CASE("a kernel that cannot tell of VFs prepares them all the same") {
  Bed bed;
  bed.config().vfs = 3;
  bed.k.tells_vf_settings = false;
  CHECK(bed.problems() == "");
  CHECK(bed.shown(2) == derived(2));
  const int orders = bed.k.orders();
  CHECK(bed.problems() == "");
  CHECK(bed.k.orders() == orders);
}

TEST_CASE("the first entry that chooses a PF has it, and one that chooses none is told") {
  Bed bed;
  bed.config().vfs = 1;
  bed.configs.push_back(bed.config());
  bed.configs.back().path = "pfs[1]";
  bed.configs.back().vfs = 3;
  PfConfig nobody;
  nobody.path = "pfs[2]";
  nobody.pf_names = {"ib7"};
  bed.configs.push_back(nobody);
  CHECK(bed.problems() == "pfs[2]: it chooses no PF of this node: there are 0000:3b:00.0 ib0\n");
  CHECK(bed.k.pf(kPf).value()->vfs.size() == 1);
}

TEST_CASE("a preparation that cannot go on orders nothing, and says the same each time") {
  Bed bed;
  bed.make_bare_vfs(3);
  bed.config().vfs = 4;
  add_address(bed, own_name(bed, vf(1)), "10.1.2.3/24");
  bed.write_record(vf(2));
  bed.configs.push_back(bed.config());
  bed.configs.back().path = "pfs[1]";
  bed.configs.back().vendor = 0x1077;
  const std::string first = bed.problems();
  CHECK_FALSE(first.empty());
  const int orders = bed.k.orders();
  for (int i = 0; i < 3; ++i) CHECK(bed.problems() == first);
  CHECK(bed.k.orders() == orders);
}

TEST_CASE("an intent of another boot counts for nothing") {
  Bed bed;
  bed.make_bare_vfs(1);
  bed.k.unbind(vf(0));
  bed.k.function_state(kPf).autoprobe = false;
  bed.intents.write({kPf, "boot-0", "mlx5_core", {0}, false}).value();
  CHECK(bed.problems() == "");
  CHECK_FALSE(bed.function(0).driver);
  CHECK_FALSE(bed.k.pf(kPf).value()->autoprobe);
  CHECK(bed.intents.all()->empty());
}

TEST_CASE("an intent is finished though the configuration names its PF no more") {
  Bed bed;
  bed.make_bare_vfs(1);
  bed.k.unbind(vf(0));
  bed.k.function_state(kPf).autoprobe = false;
  bed.intents.write({kPf, "boot-1", "mlx5_core", {0, 1}, false}).value();
  bed.configs.clear();
  CHECK(bed.problems() == "");
  CHECK(bed.shown(0) == derived(0));
  CHECK(bed.k.pf(kPf).value()->autoprobe);
}

TEST_CASE("a VF whose bind was cut short is bound once more, and the others are left alone") {
  Bed bed;
  bed.config().vfs = 2;
  REQUIRE(bed.problems() == "");
  bed.k.bound.clear();
  bed.intents.write({kPf, "boot-1", "mlx5_core", {0, 1}, false, 1}).value();
  CHECK(bed.problems() == "");
  REQUIRE(bed.k.bound.size() == 1);
  CHECK(bed.k.bound.front().vf == vf(1));
  CHECK(bed.shown(1) == derived(1));
  CHECK(bed.intents.all()->empty());
}

TEST_CASE("a VF that was bound is not bound again because another one cannot be") {
  Bed bed;
  bed.make_bare_vfs(2);
  bed.k.unbind(vf(0));
  bed.k.function_state(vf(0)).rdma_count = 0;  // it is bound, and nothing comes of it
  bed.k.unbind(vf(1));
  bed.intents.write({kPf, "boot-1", "mlx5_core", {0, 1}, false}).value();
  CHECK(contains(bed.problems(), "it was bound and has made no RDMA device"));
  REQUIRE(bed.k.bound.size() == 2);
  (void)bed.problems();
  CHECK(bed.k.bound.size() == 2);
}

TEST_CASE("a damaged intent is told with its file, and its PF is left alone") {
  Bed bed;
  bed.config().vfs = 1;
  bed.intents.write({kPf, "boot-1", "mlx5_core", {0}, false}).value();
  const Path file = bed.folder.path() / "preparation" / (kPf.text() + ".json");
  bed.folder.write("preparation/" + kPf.text() + ".json", "{");
  CHECK(contains(bed.problems(), file.string() + " is damaged: remove it"));
  CHECK(bed.k.orders() == 0);
}

TEST_CASE("an intent of a newer version is told with its file, and it and its PF are left alone") {
  Bed bed;
  bed.config().vfs = 1;
  std::filesystem::create_directory(bed.folder.path() / "preparation");
  const Path file =
      bed.folder.write("preparation/" + kPf.text() + ".json", R"({"version":2,"steps":["bind"]})");
  CHECK(contains(bed.problems(),
                 file.string() +
                     ": its version is 2, and this program reads none above 1: a newer ibpod wrote "
                     "it (run that one again; the file is left as it is)"));
  CHECK(bed.k.orders() == 0);
  CHECK(read_file(file).value() == R"({"version":2,"steps":["bind"]})");
}

TEST_CASE("an intent of the first version is finished") {
  const Path kept = "tests/data/first_version/node";
  const Intent intent{kPf, "5f2c7f04-9f1e-4c63-8d8a-1f7f2c0a9b1e", "mlx5_core", {0, 1, 2}, true, 1};
  CHECK(Intents(kept).find(kPf).value() == intent);
  Bed bed;
  std::filesystem::copy(kept / "preparation", bed.folder.path() / "preparation");
  bed.configs.clear();
  bed.k.function_state(kPf).autoprobe = false;
  bed.k.make_vfs(kPf, 4);
  CHECK(bed.run(intent.boot_id).problems.empty());
  for (const unsigned number : {0U, 1U, 2U}) CHECK(bed.shown(number) == derived(number));
  CHECK_FALSE(bed.shown(3));
  CHECK(bed.function(0).driver == "mlx5_core");
  CHECK(bed.k.function_state(kPf).autoprobe);
  CHECK(bed.intents.all()->empty());
}

}  // namespace
}  // namespace ibpod::agent
