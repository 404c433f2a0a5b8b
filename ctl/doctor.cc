#include "ctl/doctor.h"

#include "lib/node/describe.h"

#include <algorithm>
#include <array>

namespace ibpod::ctl {
namespace {

using Findings = std::vector<Finding>;

constexpr std::string_view kMellanox = "mlx5_core";
constexpr uint64_t kLittleMemory = 64 << 20;  // what systemd's default of 8 MiB falls short of

Finding fine(std::string check, std::string text) {
  return {std::move(check), Grade::fine, std::move(text), "", Issue::none};
}
Finding warning(Issue issue, std::string check, std::string text, std::string remedy) {
  return {std::move(check), Grade::warning, std::move(text), std::move(remedy), issue};
}
Finding wrong(Issue issue, std::string check, std::string text, std::string remedy) {
  return {std::move(check), Grade::wrong, std::move(text), std::move(remedy), issue};
}

// "6.1.0-56-amd64" is 6 and 1.
std::pair<int, int> version_of(const std::string& release) {
  int major = 0, minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2) return {0, 0};
  return {major, minor};
}

void check_kernel(const Machine& machine, Findings& findings) {
  constexpr std::pair<int, int> kOldest{5, 10};
  if (version_of(machine.kernel) >= kOldest)
    return findings.push_back(fine("kernel", machine.kernel));
  findings.push_back(wrong(Issue::old_kernel, "kernel", machine.kernel + " is older than 5.10",
                           "boot a kernel of 5.10 or later: older kernels cannot move RDMA "
                           "devices between namespaces as ibpod requires"));
}

std::string load(const std::string& module) {
  return "modprobe " + module + "; for every boot: echo " + module + " > /etc/modules-load.d/" +
         module + ".conf";
}

void check_modules(const Machine& machine, Findings& findings) {
  struct Needed {
    std::string name;
    Grade grade;
    std::string what_for;
  };
  const std::array<Needed, 4> needed{{
      {"ib_core", Grade::wrong, "InfiniBand itself"},
      {"ib_uverbs", Grade::wrong, "verbs in pods"},
      {"ib_ipoib", Grade::wrong, "IPoIB interfaces, and the GUIDs of VFs"},
      {"rdma_ucm", Grade::warning, "rdma_cm in pods"},
  }};
  for (const Needed& one : needed) {
    if (machine.modules.contains(one.name)) {
      findings.push_back(fine("module " + one.name, "loaded"));
      continue;
    }
    findings.push_back({"module " + one.name, one.grade, "not loaded: no " + one.what_for,
                        load(one.name), Issue::module_missing});
  }
}

void check_netns_mode(const Machine& machine, Findings& findings) {
  const std::string check = "rdma-netns-mode";
  if (!machine.netns_mode) {
    return findings.push_back(wrong(Issue::no_rdma, check,
                                    "the kernel reports no mode: RDMA is not loaded",
                                    "modprobe ib_core"));
  }
  if (*machine.netns_mode == nl::RdmaNetnsMode::exclusive)
    return findings.push_back(fine(check, "exclusive"));
  findings.push_back(
      wrong(Issue::shared_mode, check,
            "shared: every pod with an RDMA device can open all devices of the node",
            node::set_at_boot(nl::RdmaNetnsMode::exclusive) +
                "; before the first pod, `rdma system set netns exclusive` does it at once"));
}

// True if it is an InfiniBand port, and is known to be one.
bool check_port(const Function& pf, const Port& port, Findings& findings) {
  if (port.link_layer == "InfiniBand") return true;
  const std::string check = pf.address.text();
  const std::string number = std::to_string(port.number);
  const std::string text = "port " + number + " (" + port.rdma_device + ")";
  if (port.link_layer != "Ethernet") {
    findings.push_back(warning(Issue::link_layer_unknown, check,
                               text + " does not report its link layer",
                               "see /sys/class/infiniband/" + port.rdma_device + "/ports/" +
                                   number + "/link_layer, and dmesg"));
    return false;
  }
  findings.push_back(warning(Issue::ethernet_port, check, text + " is an Ethernet port",
                             pf.driver == kMellanox
                                 ? node::set_firmware(pf.address, node::infiniband_port(pf.address))
                                 : "set the port to InfiniBand with the adapter's firmware tool"));
  return false;
}

void check_pf(const Function& pf, Findings& findings) {
  const std::string check = pf.address.text();
  if (pf.driver.empty()) {
    return findings.push_back(
        wrong(Issue::pf_without_driver, check, "the PF has no driver",
              "load the adapter's driver (modprobe mlx5_core); if it is loaded, check dmesg"));
  }
  bool usable = pf.rdma;
  if (!pf.rdma) {
    findings.push_back(wrong(
        Issue::pf_without_rdma, check, "the PF has no RDMA device",
        pf.driver == kMellanox ? load("mlx5_ib")
                               : "load the RDMA module of its driver (modprobe), and check dmesg"));
  }
  for (const Port& port : pf.ports)
    if (!check_port(pf, port, findings)) usable = false;
  if (pf.total_vfs == 0u) {
    usable = false;
    findings.push_back(
        warning(Issue::no_vfs, check, "sriov_totalvfs is 0: the firmware offers no VFs",
                pf.driver == kMellanox ? node::set_firmware(pf.address, "SRIOV_EN=1 NUM_OF_VFS=16")
                                       : "allow SR-IOV with the adapter's firmware tool"));
  }
  if (!usable) return;
  std::string text = "PF, " + pf.driver;
  if (pf.total_vfs)
    text += ", " + std::to_string(pf.vfs) + " of " + std::to_string(*pf.total_vfs) + " VFs";
  findings.push_back(fine(check, text));
}

// Command of iproute2 for a VF: "ip link set ib0 vf 1 state auto".
std::string ip_link(const Function& vf, const std::string& setting) {
  const std::string pf = vf.pf_name.empty() ? "PF" : vf.pf_name;
  return "ip link set " + pf + " vf " + std::to_string(vf.vf) + " " + setting;
}

std::string set_guid(const Function& vf) {
  const std::string address = vf.address.text();
  return ip_link(vf, "node_guid GUID") + "; " + ip_link(vf, "port_guid GUID") + "; echo " +
         address + " > /sys/bus/pci/drivers/" + vf.driver + "/unbind; echo " + address +
         " > /sys/bus/pci/drivers_probe";
}

void check_vf(const Function& vf, Findings& findings) {
  const std::string check = vf.address.text();
  // The agent should do this itself; the command is for nodes where it does not.
  const std::string prepare =
      "list its PF under `pfs` in the agent's configuration; if a finding \"preparation\" reports "
      "what "
      "the agent waits for, correct that; otherwise: ";
  if (vf.driver.empty() && !vf.in_pod) {
    return findings.push_back(warning(Issue::vf_without_driver, check, "the VF has no driver",
                                      prepare + "echo " + check + " > /sys/bus/pci/drivers_probe"));
  }
  if (!vf.port_guid || !vf.policy) {
    const std::string what = vf.policy      ? "GUID"
                             : vf.port_guid ? "link policy"
                                            : "GUID and link policy";
    findings.push_back(warning(Issue::vf_settings_unknown, check,
                               "the VF's " + what + " cannot be read from its PF",
                               "check that the PF has its IPoIB interface, and that `ip -d link "
                               "show` lists its VFs"));
  }
  if (vf.port_guid && vf.port_guid->none() && !vf.in_pod) {
    findings.push_back(wrong(Issue::vf_without_guid, check,
                             "the VF has no GUID: its port never becomes ACTIVE",
                             prepare + set_guid(vf)));
  }
  if (vf.policy == node::LinkPolicy::disable) {
    findings.push_back(wrong(Issue::vf_link_disabled, check,
                             "the VF's link policy is disable: its port stays DOWN",
                             prepare + ip_link(vf, "state auto")));
  }
}

void check_adapters(const Machine& machine, Findings& findings) {
  if (machine.functions.empty()) {
    return findings.push_back(wrong(Issue::no_adapters, "adapters", "no InfiniBand function found",
                                    "list the adapters with lspci -d 15b3: and load their driver"));
  }
  for (const Function& function : machine.functions)
    function.pf ? check_vf(function, findings) : check_pf(function, findings);
}

void check_limits(const Machine& machine, Findings& findings) {
  // Pods do not need it: no reason for a node that has none to be told of for ever.
  findings.push_back(fine(
      "iommu", machine.iommu ? "on"
                             : "off: pods do not need it; for virtual machines (vfio-pci) boot "
                               "with intel_iommu=on or amd_iommu=on, and VT-d or AMD-Vi "
                               "allowed by the firmware"));
  if (machine.runtime.empty()) return;
  if (!machine.memlock) {
    return findings.push_back(warning(
        Issue::memlock_unknown, "memlock",
        "the memlock limit of " + machine.runtime + " cannot be read",
        "as root: grep 'Max locked memory' /proc/$(pidof -s " + machine.runtime + ")/limits"));
  }
  if (*machine.memlock >= kLittleMemory)
    return findings.push_back(fine("memlock", machine.runtime + ": sufficient"));
  findings.push_back(
      warning(Issue::memlock_low, "memlock",
              "pods of " + machine.runtime + " may lock " + std::to_string(*machine.memlock >> 10) +
                  " KiB: verbs programs without CAP_IPC_LOCK fail to register memory",
              "set LimitMEMLOCK=infinity in a drop-in of " + machine.runtime +
                  ".service, run systemctl daemon-reload, and restart it; it applies to new pods"));
}

void check_neighbours(const Machine& machine, Findings& findings) {
  for (const auto& [socket, there] : machine.sockets) {
    findings.push_back(
        there ? fine(socket.string(), "there")
              : warning(Issue::socket_missing, socket.string(), "the socket does not exist",
                        "check that its owner runs, and that the path is right (--kubelet-root)"));
  }
  for (const auto& [program, runs] : machine.programs) {
    findings.push_back(
        runs ? fine(program.string(), "installed")
             : wrong(Issue::plugin_missing, program.string(), "is missing or not executable",
                     "check the init container of the agent's DaemonSet, which installs it"));
  }
}

}  // namespace

std::string_view name(Grade grade) {
  constexpr std::array<std::string_view, 3> kNames{"ok", "warning", "wrong"};
  return kNames.at(static_cast<size_t>(grade));
}

std::vector<Finding> examine(const Machine& machine) {
  Findings findings;
  check_kernel(machine, findings);
  check_modules(machine, findings);
  check_netns_mode(machine, findings);
  check_adapters(machine, findings);
  check_limits(machine, findings);
  check_neighbours(machine, findings);
  return findings;
}

int exit_code(const std::vector<Finding>& findings) {
  int worst = 0;
  for (const Finding& finding : findings) worst = std::max(worst, static_cast<int>(finding.grade));
  return worst;
}

}  // namespace ibpod::ctl
