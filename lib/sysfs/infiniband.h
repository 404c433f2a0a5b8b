// RDMA devices: GUIDs, ports, P_Key tables.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/port.h"
#include "lib/sysfs/sysfs.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::sysfs {

Result<ib::Guid> node_guid(const Sysfs& sysfs, const std::string& rdma_device);
// The GUID in GID 0 of port 1, 2 …
Result<ib::Guid> port_guid(const Sysfs& sysfs, const std::string& rdma_device, unsigned number);
// The subnet prefix, the first half of GID 0.
Result<ib::Guid> subnet_prefix(const Sysfs& sysfs, const std::string& rdma_device, unsigned number);
// State, LID, GID 0 and the P_Key table of port 1, 2 …: the whole of it, or up to the first full
// member's key of the partition `until`, which has precedence over all that comes behind it.
Result<ib::Port> port(const Sysfs& sysfs, const std::string& rdma_device, unsigned number,
                      std::optional<ib::PKey> until = std::nullopt);
// The same without the P_Key table, which costs one file for each entry: 128 on mlx5, each a
// firmware command.
Result<ib::Port> port_without_pkeys(const Sysfs& sysfs, const std::string& rdma_device,
                                    unsigned number);
Result<ib::PKeyTable> pkeys(const Sysfs& sysfs, const std::string& rdma_device, unsigned number,
                            std::optional<ib::PKey> until = std::nullopt);
// The numbers of its ports, from 1.
Result<std::vector<unsigned>> ports(const Sysfs& sysfs, const std::string& rdma_device);

enum class LinkLayer { infiniband, ethernet, unspecified };
Result<LinkLayer> link_layer(const Sysfs& sysfs, const std::string& rdma_device, unsigned port);

// The RDMA device that uverbsN belongs to. The sysfs of every namespace shows it.
Result<std::string> device_of_uverbs(const Sysfs& sysfs, const std::string& uverbs);
// The function's RDMA devices that have verbs, by its character devices (sysfs/pci.h). smi1 next to
// mlx5_1 on a planarized XDR adapter has none: it only carries MADs.
std::vector<std::string> devices_with_verbs(const Sysfs& sysfs,
                                            const std::vector<std::string>& char_devices);

}  // namespace ibpod::sysfs
