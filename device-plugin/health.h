// Health: whether a pod that is given a device now would get what its pool promises, and if not,
// why. Evaluated again at each inventory: a device that has recovered is healthy again.
#pragma once

#include "device-plugin/device.h"
#include "lib/nl/rdma.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::device_plugin {

// In the order in which they are checked: the first one found is reported.
enum class UnhealthyReason {
  quarantine,       // not cleaned up after its last pod, or its owner is unknown
  no_driver,        // nothing is bound to the function
  shared_mode,      // the pool promises isolation, and RDMA devices are in all namespaces
  no_rdma_device,   // the driver has made none, or it is in an unknown namespace
  no_char_device,   // no uverbsN: ib_uverbs is not loaded, or the driver is half way
  no_interface,     // its pods are promised IPoIB alone, and it has no interface on the host
  no_guid,          // a pod's port would have no identity on the subnet
  pf_down,          // the PF's port has no link: no VF behind it can
  port_not_active,  // the subnet manager has not brought any of its ports up
  // Each attachment needs a partition, and none could be bound at its port (device.h, BindFault):
  wrong_subnet,
  no_certificate,
  no_sm_service,
  unknown_guid,
};
// A label for metrics: "noDriver".
std::string_view name(UnhealthyReason unhealthy_reason);

// The promises of a pool about its devices.
struct HealthCriteria {
  bool isolation = true;            // a pod sees its own RDMA device only
  bool ignore_link = false;         // neither the PF's link nor the port's state counts
  bool rdma = true;                 // RDMA character devices for the pod
  bool partition_required = false;  // its port is brought into a partition
  bool operator==(const HealthCriteria&) const = default;
};

struct Health {
  std::optional<UnhealthyReason> reason;  // nothing: healthy
  std::string text;                       // why not, for people: "port 1 of mlx5_2 is DOWN"
  bool is_healthy() const { return !reason; }
  bool operator==(const Health&) const = default;
};

// `mode`: nothing where the kernel did not say; then no pool can promise isolation.
// A device that a pod has is judged by its function and its PF: its RDMA device and port are the
// pod's to change, what is gone from the host's sight is not lost, and its character devices are
// gone for as long as a move into the pod or out of it takes. Under vfio-pci there is no
// RDMA device to judge. Of several ports one that is ACTIVE is enough. An InfiniBand function needs
// GUID and port also where no RDMA is promised: IPoIB does.
Health evaluate_health(const Device& device, const HealthCriteria& criteria,
                       std::optional<nl::RdmaNetnsMode> mode);

}  // namespace ibpod::device_plugin
