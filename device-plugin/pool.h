// Pool: devices that are equal to a pod that asks for one, under one extended resource of
// Kubernetes. PoolDevice: a device, or an IPoIB slot, in a pool.
#pragma once

#include "device-plugin/device.h"
#include "device-plugin/selector.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::device_plugin {

enum class PoolKind {
  device,      // VFs, and PFs that a selector names
  ipoib_slot,  // permissions to make one IPoIB child each on an HCA; the device stays the host's
  foreign,  // the peer's accelerators and auxiliary devices: no device is ever in such a pool, and
            // the resource is not to be registered, as another plugin may serve it
};

// Which devices a pod that asks for several is given.
enum class Policy {
  packed,  // of as few PFs as possible, and of those that are nearly used up
  spread,  // of as many PFs (and so rails) as possible
  numa,    // of one NUMA node, then of one PCIe root, then packed
};

// Text to be added to a device's _INFO, by PCI address; under "*" for every device.
using AdditionalInfo = std::map<std::string, std::map<std::string, std::string>>;

struct Pool {
  std::string prefix;  // example.com
  std::string name;    // ib_vfs
  PoolKind kind = PoolKind::device;
  // One that matches is enough. Empty: every VF; for IPoIB slots, every InfiniBand PF.
  std::vector<Selector> selectors;
  bool exclude_topology = false;  // the kubelet is told no NUMA node
  AdditionalInfo additional_info;

  bool isolation = true;  // a pod sees its own device only: needs RDMA namespace mode exclusive
  bool ignore_link = false;
  bool cdi = true;
  Policy policy = Policy::packed;
  // Classes of RDMA character devices that a pod gets: uverbs, rdma_cm, umad, issm.
  std::vector<std::string> device_nodes{"uverbs", "rdma_cm"};
  uint32_t ipoib_slots = 0;  // of each HCA; for PoolKind::ipoib_slot only
  bool operator==(const Pool&) const = default;

  // example.com/ib_vfs
  std::string resource() const { return prefix + "/" + name; }
};

// PCIDEVICE_EXAMPLE_COM_IB_VFS of example.com/ib_vfs, as sriov-network-device-plugin writes it: a
// '-' stays, although no shell can name such a variable.
std::string variable_of(std::string_view resource);

struct PoolDevice {
  std::string id;       // a PCI address; "0000:3b:00.0-7" is an IPoIB slot
  Device device;        // of an IPoIB slot: the HCA
  size_t selector = 0;  // which of the pool's selectors took it
  // Why it is reported to the kubelet as unhealthy; empty: it is healthy. The snapshot sets it.
  std::string unhealthy;
  bool operator==(const PoolDevice&) const = default;
};

struct PoolContents {
  Pool pool;
  std::vector<PoolDevice> devices;  // in the order of their PCI addresses and numbers
  bool operator==(const PoolContents&) const = default;
};

// The resource that a device was given out under, as the kubelet or a device-info file tells.
using Allocated = std::map<ib::PciAddress, std::string>;

// Deals the devices to the pools: each goes to the first pool that takes it. One that is held stays
// with its pool, as long as there is such a pool, whatever its selectors say by now: capacity does
// not drop under a pod. Devices that the host needs go nowhere; of tickets the device stays the
// host's, so it may have them.
std::vector<PoolContents> assign(const std::vector<Pool>& pools, const std::vector<Device>& devices,
                                 const Allocated& allocated = {});

// A pool's answer for a device by itself.
struct MatchResult {
  bool matches = false;
  size_t selector = 0;  // where it takes it
  std::string reason;  // where it does not: "selectors[0].drivers: wants vfio-pci, found mlx5_core"
};
MatchResult match(const Pool& pool, const Device& device);

}  // namespace ibpod::device_plugin
