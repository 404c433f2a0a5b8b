// Machine: what `doctor` wants to know about a node, collected in one go. Questions only; what
// could not be asked is absent.
#pragma once

#include "lib/base/files.h"
#include "lib/ib/guid.h"
#include "lib/ib/pci_address.h"
#include "lib/node/kernel.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <sys/resource.h>

namespace ibpod::ctl {

struct Port {
  std::string rdma_device;  // mlx5_0
  unsigned number = 1;
  std::string link_layer;  // "InfiniBand", "Ethernet"; empty: it cannot be read
};

struct Function {
  ib::PciAddress address;
  std::optional<ib::PciAddress> pf;   // nothing: it is a PF
  std::string driver;                 // empty: none
  bool rdma = false;                  // of a PF: it has an RDMA device, in whatever namespace
  std::vector<Port> ports;            // as the host sees them
  std::optional<uint32_t> total_vfs;  // of a PF with SR-IOV
  uint32_t vfs = 0;                   // that it has now
  // For a VF, from its PF's settings; nothing if the PF does not report them.
  std::optional<ib::Guid> port_guid;
  std::optional<node::LinkPolicy> policy;
  uint32_t vf = 0;      // its number under the PF
  std::string pf_name;  // the PF's interface; empty: it has none here
  bool in_pod = false;  // a record names it
};

struct Machine {
  std::string kernel;  // uname's release
  std::set<std::string> modules;
  std::optional<nl::RdmaNetnsMode> netns_mode;  // nothing: the kernel has no RDMA
  bool iommu = false;
  // The memory that a process of the container runtime may lock, in bytes; RLIM_INFINITY: no limit;
  // nothing: it is not known.
  std::optional<rlim_t> memlock;
  std::string runtime;  // containerd, crio; empty: none runs
  std::vector<Function> functions;
  std::map<Path, bool> sockets;   // of the kubelet and the agent, and whether they are there
  std::map<Path, bool> programs;  // the plugins, and whether they can be run
};

// The paths that are examined. Two agents may run on one machine: every path is a value.
struct MachinePaths {
  Path sys = "/sys";
  Path proc = "/proc";
  Path kubelet = "/var/lib/kubelet";
  Path plugins = "/opt/cni/bin";
  Path state = "/var/lib/ibpod";
  Path agent = "/run/ibpod/agent.sock";
};

// `kernel`: null where there is no RDMA to ask it for.
Result<Machine> read_machine(const MachinePaths& paths, node::Kernel* kernel);

}  // namespace ibpod::ctl
