#include "ctl/doctor.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

const ib::PciAddress kPf = ib::PciAddress::parse("0000:3b:00.0").value();
const ib::PciAddress kVf = ib::PciAddress::parse("0000:3b:00.1").value();

Machine well_kept() {
  Machine machine;
  machine.kernel = "6.1.0-56-amd64";
  machine.modules = {"ib_core", "ib_uverbs", "ib_ipoib", "rdma_ucm"};
  machine.netns_mode = nl::RdmaNetnsMode::exclusive;
  machine.iommu = true;
  machine.runtime = "containerd";
  machine.memlock = RLIM_INFINITY;
  Function pf;
  pf.address = kPf;
  pf.driver = "mlx5_core";
  pf.rdma = true;
  pf.ports = {{"mlx5_0", 1, "InfiniBand"}};
  pf.total_vfs = 16;
  pf.vfs = 1;
  Function vf;
  vf.address = kVf;
  vf.pf = kPf;
  vf.driver = "mlx5_core";
  vf.port_guid = ib::Guid(0x0200000000000001);
  vf.policy = node::LinkPolicy::automatic;
  machine.functions = {pf, vf};
  machine.sockets = {{"/var/lib/kubelet/device-plugins/kubelet.sock", true}};
  machine.programs = {{"/opt/cni/bin/ib-sriov", true}};
  return machine;
}

std::vector<Finding> bad(const Machine& machine) {
  std::vector<Finding> findings = examine(machine);
  std::erase_if(findings, [](const Finding& finding) { return finding.grade == Grade::fine; });
  return findings;
}

TEST_CASE("doctor: a well-kept node has nothing to mend") {
  CHECK(bad(well_kept()).empty());
  CHECK(exit_code(examine(well_kept())) == 0);
}

struct Case {
  const char* what;
  void (*spoil)(Machine&);
  const char* check;
  Grade grade;
  const char* text;
  const char* remedy;
};
const Case kCases[] = {
    {"an old kernel", [](Machine& m) { m.kernel = "5.4.0"; }, "kernel", Grade::wrong,
     "older than 5.10", "boot a kernel"},
    {"a kernel that cannot be read", [](Machine& m) { m.kernel = "what"; }, "kernel", Grade::wrong,
     "older than", "boot a kernel"},
    {"no IPoIB", [](Machine& m) { m.modules.erase("ib_ipoib"); }, "module ib_ipoib", Grade::wrong,
     "not loaded", "modprobe ib_ipoib"},
    {"no verbs", [](Machine& m) { m.modules.erase("ib_uverbs"); }, "module ib_uverbs", Grade::wrong,
     "verbs in pods", "/etc/modules-load.d/ib_uverbs.conf"},
    {"no connection manager", [](Machine& m) { m.modules.erase("rdma_ucm"); }, "module rdma_ucm",
     Grade::warning, "rdma_cm", "modprobe rdma_ucm"},
    {"shared RDMA devices", [](Machine& m) { m.netns_mode = nl::RdmaNetnsMode::shared; },
     "rdma-netns-mode", Grade::wrong, "every pod", "options ib_core netns_mode=0"},
    {"no RDMA", [](Machine& m) { m.netns_mode.reset(); }, "rdma-netns-mode", Grade::wrong,
     "RDMA is not loaded", "modprobe ib_core"},
    {"no adapter", [](Machine& m) { m.functions.clear(); }, "adapters", Grade::wrong,
     "no InfiniBand", "lspci"},
    {"a PF without driver", [](Machine& m) { m.functions[0].driver = ""; }, "0000:3b:00.0",
     Grade::wrong, "no driver", "modprobe"},
    {"a port in Ethernet mode", [](Machine& m) { m.functions[0].ports[0].link_layer = "Ethernet"; },
     "0000:3b:00.0", Grade::warning, "port 1 (mlx5_0)",
     "mstconfig -d 0000:3b:00.0 set LINK_TYPE_P1=1"},
    {"a port whose link layer cannot be read",
     [](Machine& m) { m.functions[0].ports[0].link_layer = ""; }, "0000:3b:00.0", Grade::warning,
     "port 1 (mlx5_0) does not report", "mlx5_0/ports/1/link_layer"},
    {"a PF without RDMA device",
     [](Machine& m) {
       m.functions[0].rdma = false;
       m.functions[0].ports.clear();
     },
     "0000:3b:00.0", Grade::wrong, "no RDMA device", "modprobe mlx5_ib"},
    {"no VFs from the firmware", [](Machine& m) { m.functions[0].total_vfs = 0; }, "0000:3b:00.0",
     Grade::warning, "sriov_totalvfs is 0", "SRIOV_EN=1 NUM_OF_VFS=16"},
    {"a VF without driver", [](Machine& m) { m.functions[1].driver = ""; }, "0000:3b:00.1",
     Grade::warning, "no driver", "drivers_probe"},
    {"a VF without GUID", [](Machine& m) { m.functions[1].port_guid = ib::Guid(); }, "0000:3b:00.1",
     Grade::wrong, "no GUID", "node_guid"},
    {"a VF given back without GUID", [](Machine& m) { m.functions[1].port_guid = ib::kNoGuid; },
     "0000:3b:00.1", Grade::wrong, "no GUID", "port_guid"},
    {"a VF whose GUID is not known", [](Machine& m) { m.functions[1].port_guid.reset(); },
     "0000:3b:00.1", Grade::warning, "the VF's GUID cannot be read from its PF", "IPoIB"},
    {"a VF whose link policy is not known", [](Machine& m) { m.functions[1].policy.reset(); },
     "0000:3b:00.1", Grade::warning, "the VF's link policy cannot be read from its PF", "IPoIB"},
    {"a VF of which nothing is known",
     [](Machine& m) {
       m.functions[1].port_guid.reset();
       m.functions[1].policy.reset();
     },
     "0000:3b:00.1", Grade::warning, "the VF's GUID and link policy", "IPoIB"},
    {"a VF that is kept down",
     [](Machine& m) { m.functions[1].policy = node::LinkPolicy::disable; }, "0000:3b:00.1",
     Grade::wrong, "policy is disable", "state auto"},
    {"little memory to lock", [](Machine& m) { m.memlock = 8 << 20; }, "memlock", Grade::warning,
     "8192 KiB", "set LimitMEMLOCK=infinity"},
    {"a limit that is not known", [](Machine& m) { m.memlock.reset(); }, "memlock", Grade::warning,
     "memlock limit of containerd cannot be read", "Max locked memory"},
    {"no kubelet", [](Machine& m) { m.sockets.begin()->second = false; },
     "/var/lib/kubelet/device-plugins/kubelet.sock", Grade::warning, "the socket does not exist",
     "root"},
    {"no plugin", [](Machine& m) { m.programs.begin()->second = false; }, "/opt/cni/bin/ib-sriov",
     Grade::wrong, "missing", "init container"},
};
TEST_CASE("doctor: each thing that is wrong is found alone, with its grade and its remedy") {
  for (const Case& one : kCases) {
    CAPTURE(one.what);
    Machine machine = well_kept();
    one.spoil(machine);
    const std::vector<Finding> findings = bad(machine);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].check == one.check);
    CHECK(findings[0].grade == one.grade);
    CHECK(findings[0].text.find(one.text) != std::string::npos);
    CHECK(findings[0].remedy.find(one.remedy) != std::string::npos);
    CHECK(exit_code(findings) == static_cast<int>(one.grade));
  }
}

TEST_CASE("doctor: a node without IOMMU is well, as pods do not need one") {
  Machine machine = well_kept();
  machine.iommu = false;
  CHECK(bad(machine).empty());
}

TEST_CASE("doctor: what a pod has is not to be mended by hand") {
  Machine machine = well_kept();
  machine.functions[1].in_pod = true;
  machine.functions[1].port_guid = ib::kNoGuid;
  machine.functions[1].driver = "";
  CHECK(bad(machine).empty());
}

TEST_CASE("doctor: an RDMA device that another namespace has is not missing") {
  Machine machine = well_kept();
  machine.functions[0].ports.clear();
  CHECK(bad(machine).empty());
}

TEST_CASE("doctor: other makers' adapters get no commands of NVIDIA's tools") {
  Machine machine = well_kept();
  machine.functions[0].driver = "hfi1";
  machine.functions[0].total_vfs = 0;
  machine.functions[0].ports[0].link_layer = "Ethernet";
  for (const Finding& finding : bad(machine))
    CHECK(finding.remedy.find("mstconfig") == std::string::npos);
}

}  // namespace
}  // namespace ibpod::ctl
