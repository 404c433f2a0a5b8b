// ChangeSet: what of a node may be other than it was when it was looked at last.
#pragma once

#include "lib/ib/pci_address.h"

#include <set>
#include <string>

namespace ibpod::device_plugin {

struct ChangeSet {
  bool everything = false;  // it is unknown what has changed
  // State that changes without any event: that of ports (without ib_ipoib), LIDs, P_Key tables.
  bool ports = false;
  // The subjects of events: PCI functions, and interfaces and RDMA devices by name, with or without
  // a function of theirs.
  std::set<ib::PciAddress> functions = {};
  std::set<std::string> netdevs = {};
  std::set<std::string> rdma_devices = {};
  bool operator==(const ChangeSet&) const = default;

  void add(const ChangeSet& more) {
    everything |= more.everything;
    ports |= more.ports;
    functions.insert(more.functions.begin(), more.functions.end());
    netdevs.insert(more.netdevs.begin(), more.netdevs.end());
    rdma_devices.insert(more.rdma_devices.begin(), more.rdma_devices.end());
  }
};

// The function that a device's path leads through last:
// "/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.2/net/ib0" is about 0000:3b:00.2. A path without any
// (a bridge, a module, a processor) is about no device of ours, and adds nothing.
void add_device_path(const std::string& path, ChangeSet& changed);

}  // namespace ibpod::device_plugin
