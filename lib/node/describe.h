// Texts for people that every program has in the same words: the owner of an attachment, and what
// the administrator of a node has to do.
#pragma once

#include "lib/ib/pci_address.h"
#include "lib/nl/rdma.h"
#include "lib/node/record.h"

#include <string>

namespace ibpod::node {

// "pod default/trainer-0 (net1)", or "container ID (net1)" if the record names no pod.
std::string describe_owner(const Record& record);

// For a mode that the kernel does not take any more, as other network namespaces exist.
std::string set_at_boot(nl::RdmaNetnsMode mode);

// `settings`: of the adapter's firmware, "SRIOV_EN=1 NUM_OF_VFS=16". The tool is of the package
// mstflint; NVIDIA's own, mlxconfig, takes the same words.
std::string set_firmware(const ib::PciAddress& pf, const std::string& settings);
// That this PF's port is to be InfiniBand: LINK_TYPE_P1=1. The ports of an adapter are its
// functions, numbered from 0.
std::string infiniband_port(const ib::PciAddress& pf);

}  // namespace ibpod::node
