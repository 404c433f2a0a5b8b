// Selector: what a device has to be like for a pool to take it. Between fields all must agree,
// within a field one value is enough, and an empty field asks for nothing.
// The first fields are sriov-network-device-plugin's, with its meaning; the others are ours.
#pragma once

#include "device-plugin/device.h"
#include "device-plugin/pf_choice.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/pkey.h"
#include "lib/ib/port.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::device_plugin {

struct Selector {
  std::vector<std::string> vendors;  // "15b3"
  std::vector<std::string> devices;  // "101e"
  std::vector<std::string> drivers;
  std::vector<ib::PciAddress> pci_addresses;
  std::vector<uint32_t> acpi_indexes;
  std::vector<PfChoice> pf_names;  // their case does not matter
  std::vector<PfChoice> root_devices;
  std::vector<std::string> link_types;  // "infiniband", "ether"
  // One of the keys at any index of any port of the device; bit 15 set asks for full membership,
  // without it any membership serves. Key 0 is never found.
  std::vector<ib::PKey> pkeys;
  // True: the function must have an RDMA device. False: the pod gets no RDMA character devices.
  std::optional<bool> rdma;

  std::vector<ib::PortState> link_states;  // one of them on any port
  // True if the node GUID and every port's GUID are such as a port may have.
  std::optional<bool> guid_valid;
  std::vector<uint32_t> rails;

  // A key of the peer's that no device here can satisfy ("ddpProfiles"); empty: there is none.
  std::string unsatisfiable_key;
  bool operator==(const Selector&) const = default;
};

// The field that keeps a device out, by its name in the configuration, with both values.
struct Mismatch {
  std::string field;
  std::string expected;
  std::string found;
  bool operator==(const Mismatch&) const = default;
};

// The first field that keeps the device out; nothing: it matches. Of a device that belongs to an
// attachment and whose RDMA device cannot be seen, what only that device tells is not asked: a pool
// does not shrink because one of its devices is in use.
std::optional<Mismatch> mismatch(const Selector& selector, const Device& device);

// True if the selector names this very function: the only way in which a PF is taken.
bool names_address(const Selector& selector, const ib::PciAddress& function);

}  // namespace ibpod::device_plugin
