// Each problem of a preparation that `doctor` prints as a finding: planted, named with its remedy,
// and gone when the remedy is done.
#include "agent/prepare/test_prepare_fixture.h"
#include "lib/base/files.h"

#include <algorithm>
#include <iterator>

namespace ibpod::agent::prepare {
namespace {

struct Row {
  const char* what;
  void (*plant)(PrepareFixture&);
  const char* named;
  const char* remedy;
  void (*apply)(PrepareFixture&);
};

fake::PciFunction& pf(PrepareFixture& fixture) { return fixture.k.function_state(kPf); }
void erase_interface(PrepareFixture& fixture, const char* name) {
  fixture.k.state.namespaces[fake::kHostId].interfaces.erase(name);
}
void add_address(PrepareFixture& fixture) {
  fixture.k.interface("", "ib0").addresses = {ip::Prefix::parse("10.1.2.3/24").value()};
}
std::string own_name(PrepareFixture& fixture) {
  return fixture.k.netdevs(node::kHost, vf(0)).value().front().name;
}
// The next boot, after which all PFs and VFs are as they should be.
void reboot(PrepareFixture& fixture) { fixture.k = fake::node_with(1, 0); }
void set_pf_guids(PrepareFixture& fixture, unsigned number, const node::Guids& guids) {
  const node::Function function = *fixture.k.function(vf(number)).value();
  fixture.k.set_vf_guids(function, guids.node, guids.port).value();
}
Path intent_of(PrepareFixture& fixture, const std::string& text) {
  std::filesystem::create_directories(fixture.folder.path() / "preparation");
  return fixture.folder.write("preparation/" + kPf.text() + ".json", text);
}

const Row kRows[] = {
    {"more VFs than the adapter makes, of which fewer are taken",
     [](PrepareFixture& fixture) {
       pf(fixture).total_vfs = 8;
       fixture.config().vfs = 16;
     },
     "8 are the most that it can make", "take 8 or less",
     [](PrepareFixture& fixture) { fixture.config().vfs = 8; }},
    {"more VFs than the adapter makes, of which it is told to make more",
     [](PrepareFixture& fixture) {
       pf(fixture).total_vfs = 8;
       fixture.config().vfs = 16;
     },
     "8 are the most that it can make", "mstconfig -d 0000:3b:00.0 set NUM_OF_VFS=16, then reboot",
     [](PrepareFixture& fixture) { pf(fixture).total_vfs = 16; }},
    {"SR-IOV off",
     [](PrepareFixture& fixture) {
       pf(fixture).total_vfs = 0;
       fixture.config().vfs = 4;
     },
     "firmware has SR-IOV off", "set SRIOV_EN=1 NUM_OF_VFS=4, then reboot",
     [](PrepareFixture& fixture) { pf(fixture).total_vfs = 4; }},
    {"Ethernet",
     [](PrepareFixture& fixture) {
       fixture.config().vfs = 2;
       erase_interface(fixture, "ib0");
       fixture.k.add_netdev("", "eth2");
       fixture.k.interface("", "eth2").function = kPf;
     },
     "its port is in Ethernet mode (interface eth2)",
     "mstconfig -d 0000:3b:00.0 set LINK_TYPE_P1=1, then reboot", reboot},
    {"no IPoIB interface",
     [](PrepareFixture& fixture) {
       fixture.config().vfs = 2;
       erase_interface(fixture, "ib0");
     },
     "it has no IPoIB interface", "load its driver and ib_ipoib", reboot},
    {"the host's PF",
     [](PrepareFixture& fixture) {
       fixture.config().vfs = 2;
       add_address(fixture);
     },
     "the host uses it (ib0 has the address 10.1.2.3/24)", "set allowHostUse in pfs[0]",
     [](PrepareFixture& fixture) { fixture.config().allow_host_use = true; }},
    {"another number of VFs",
     [](PrepareFixture& fixture) {
       fixture.k = fake::node_with(1, 1);
       fixture.config().vfs = 2;
     },
     "it has 1 VF, but pfs[0].numVfs is 2", "set \"force\": true",
     [](PrepareFixture& fixture) { fixture.config().force = true; }},
    {"a VF in use",
     [](PrepareFixture& fixture) {
       fixture.make_bare_vfs(1);
       fixture.k.add_child("", own_name(fixture), "child", ib::PKey(0x8001));
     },
     "it is in use: it has the IPoIB child child", "it is in use",
     [](PrepareFixture& fixture) { erase_interface(fixture, "child"); }},
    {"a GUID of another VF",
     [](PrepareFixture& fixture) {
       fixture.make_bare_vfs(2);
       set_pf_guids(fixture, 1, {derived(0).port, derived(0).port});
     },
     "is already in use by 0000:3b:00.2",
     "give one of them another GUID (ip link set PF vf N node_guid ... port_guid ...), and bind it "
     "to "
     "its driver again",
     [](PrepareFixture& fixture) {
       set_pf_guids(fixture, 1, derived(1));
       fixture.k.unbind(vf(1));
       fixture.k.bind(vf(1), "mlx5_core").value();
     }},
    {"GUIDs of others, of a VF that a program uses",
     [](PrepareFixture& fixture) {
       fixture.k = fake::node_with(1, 1);
       fixture.config().pool_guids = true;
       fixture.k.rdma_users_of[vf(0)] = {{.process = 4711}};
     },
     "it keeps GUIDs that are not of the pool until nothing uses it",
     "process 4711 has its RDMA device open: end it",
     [](PrepareFixture& fixture) { fixture.k.rdma_users_of.clear(); }},
    {"GUIDs of others, of a VF that may be a virtual machine's",
     [](PrepareFixture& fixture) {
       fixture.k = fake::node_with(1, 1);
       fixture.config().pool_guids = true;
       fixture.k.unbind(vf(0));
       fixture.k.bind(vf(0), "vfio-pci").value();
     },
     "it is bound to vfio-pci",
     "unbind it (echo 0000:3b:00.1 > /sys/bus/pci/drivers/vfio-pci/unbind)",
     [](PrepareFixture& fixture) { fixture.k.unbind(vf(0)); }},
    {"autoprobe off, and set to 1",
     [](PrepareFixture& fixture) {
       fixture.make_bare_vfs(1);
       pf(fixture).autoprobe = false;
     },
     "sriov_drivers_autoprobe of 0000:3b:00.0 is 0", "set it to 1",
     [](PrepareFixture& fixture) { pf(fixture).autoprobe = true; }},
    {"autoprobe off, and forced",
     [](PrepareFixture& fixture) {
       fixture.make_bare_vfs(1);
       pf(fixture).autoprobe = false;
     },
     "sriov_drivers_autoprobe of 0000:3b:00.0 is 0", "or set \"force\": true",
     [](PrepareFixture& fixture) { fixture.config().force = true; }},
    {"an SM service that is away",
     [](PrepareFixture& fixture) {
       fixture.config().vfs = 1;
       fixture.pool = [](const ib::PciAddress&, uint32_t) -> Result<ib::Guid> {
         return Error(Code::unavailable, "127.0.0.1:7473: it does not answer");
       };
     },
     "127.0.0.1:7473: it does not answer", "the SM service",
     [](PrepareFixture& fixture) {
       fixture.pool = [](const ib::PciAddress&, uint32_t) {
         return ib::Guid(0x0200'0000'0000'0001);
       };
     }},
    {"an entry that chooses no PF",
     [](PrepareFixture& fixture) { fixture.config().vendor = 0x8086; },
     "pfs[0]: it selects no PF of this node", "it has 0000:3b:00.0 ib0",
     [](PrepareFixture& fixture) { fixture.config().vendor = 0x15b3; }},
    {"a damaged intent", [](PrepareFixture& fixture) { intent_of(fixture, "{"); }, "is damaged",
     "remove it",
     [](PrepareFixture& fixture) { std::filesystem::remove(intent_of(fixture, "{")); }},
    {"an intent of a newer version",
     [](PrepareFixture& fixture) { intent_of(fixture, R"({"version":2,"steps":["bind"]})"); },
     "version 2 is too new", "run the newer ibpod",
     [](PrepareFixture& fixture) { std::filesystem::remove(intent_of(fixture, "{}")); }},
};

// Errors without a row above: one literal of the text, and why there is no row.
struct Other {
  const char* text;
  const char* why;
};
const Other kOthers[] = {
    {"it has no driver to make VFs: load the adapter's driver (modprobe mlx5_core), ",
     "a PF without a driver has no IPoIB interface, which is reported first"},
    {"its interface is not in the host's namespace", "as that of a pod: prepare_test.cc"},
    {"its RDMA device is not in the host's namespace", "as that of a pod"},
    {"a device of it is in another network namespace", "as that of a pod: foreign_guids_test.cc"},
    {"it has disappeared", "it was removed between two steps: the next preparation sees that"},
    {" is gone", "it was removed between two steps: the next preparation sees that"},
    {"its driver has made no RDMA device: check dmesg", "a driver's fault: prepare_test.cc"},
    {"it was bound with the port GUID ", "a driver's fault"},
    {" has no RDMA device in the host's namespace", "a pod has the PF's, or there is none"},
    {"cannot derive a VF's GUID: the PF has no GUID", "an adapter's fault"},
    {"cannot derive a GUID of VF ", "a limit of numVfs: derive_guids_test.cc"},
};

// The string literals of the statement that begins at `from`.
std::vector<std::string> literals_of(const std::string& source, size_t from) {
  const std::string statement = source.substr(from, source.find(";\n", from) - from);
  std::vector<std::string> literals;
  for (size_t begin = 0; (begin = statement.find('"', begin)) != std::string::npos;) {
    size_t end = begin + 1;
    while (statement[end] != '"') end += statement[end] == '\\' ? 2 : 1;
    std::string literal = statement.substr(begin + 1, end - begin - 1);
    std::erase(literal, '\\');
    literals.push_back(std::move(literal));
    begin = end + 1;
  }
  return literals;
}

// The literals of each error that a preparation makes itself.
std::vector<std::vector<std::string>> errors_of_sources() {
  std::vector<std::vector<std::string>> errors;
  for (const char* name :
       {"prepare", "guids_in_use", "intent", "pf_preparation", "pf_preparation_vfs", "vf_guids",
        "vf_locks", "vf_state", "vf_users", "derive_guids"}) {
    const std::string source = read_file("agent/prepare/" + std::string(name) + ".cc").value();
    for (const std::string make : {" Error(", " in_use(\""})
      for (size_t at = 0; (at = source.find(make, at)) != std::string::npos; ++at)
        errors.push_back(literals_of(source, at));
  }
  return errors;
}

bool occur(const std::vector<std::string>& literals, const std::string& text) {
  return std::all_of(literals.begin(), literals.end(), [&](const std::string& literal) {
    return text.find(literal) != std::string::npos;
  });
}
bool is_other(const std::vector<std::string>& literals) {
  return std::any_of(std::begin(kOthers), std::end(kOthers), [&](const Other& other) {
    return std::find(literals.begin(), literals.end(), other.text) != literals.end();
  });
}

TEST_CASE("each problem names its remedy, and is gone when that is done") {
  std::string planted;
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.what));
    PrepareFixture fixture;
    REQUIRE(fixture.problems() == "");
    row.plant(fixture);
    const std::string problems = fixture.problems();
    CAPTURE(problems);
    planted += problems;
    CHECK(problems.find(row.named) != std::string::npos);
    CHECK(problems.find(row.remedy) != std::string::npos);
    CHECK(fixture.problems() == problems);
    row.apply(fixture);
    CHECK(fixture.problems() == "");
  }
  // A new error needs a row, or a reason for having none.
  const auto errors = errors_of_sources();
  CHECK(errors.size() > 15);
  for (const auto& literals : errors) {
    CAPTURE(literals.front());
    CHECK(occur(literals, planted) != is_other(literals));
  }
}

}  // namespace
}  // namespace ibpod::agent::prepare
