// The state of a modelled node, as plain data that compares and prints. Values that a node gives
// out afresh each time (indexes, queue pair numbers, minors, LIDs) are Incidental: they do not
// count when two states are compared, nor does what the subnet manager has done to a port.
#pragma once

#include "lib/base/files.h"
#include "lib/ib/guid.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/port.h"
#include "lib/ip/prefix.h"
#include "lib/netns/netns.h"
#include "lib/nl/rdma.h"
#include "lib/nl/rtnl.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::fake {

template <typename T>
struct Incidental {
  T value{};
  bool operator==(const Incidental&) const { return true; }
};

// A GUID of a device. Zero and all-ones both say "none": the kernel takes no zero back.
struct DeviceGuid {
  ib::Guid value;
  bool operator==(const DeviceGuid& other) const {
    return value == other.value || (value.none() && other.value.none());
  }
};

// Says which of its kind, for as long as the node lives; never used again.
using Id = Incidental<int>;

// A netdev: lo, a pod's veth, the IPoIB interface of an RDMA device, or a child on one.
struct Interface {
  Id id;
  Incidental<nl::IfIndex> index;  // counted by each namespace for itself
  std::string kind;               // "ipoib", "veth"; lo has none
  std::set<std::string> altnames;
  std::string alias;
  bool up = false;
  uint32_t mtu = 0;
  std::vector<ip::Prefix> addresses;  // without the link-local one that comes with carrier
  std::set<ip::Prefix> duplicates;    // those of them that somebody else has, too
  std::vector<nl::Route> routes;
  std::optional<Id> master;  // the bond or bridge that it is a port of

  // IPoIB only.
  std::optional<ib::PciAddress> function;
  Id rdma;                   // the device it is made of
  std::optional<Id> parent;  // of a child
  ib::PKey pkey;             // of a child; its parent's follows index 0 of the port's table
  Incidental<uint32_t> qpn;  // in its hardware address: another one each time it is made
  DeviceGuid guid;           // at the end of its hardware address
  nl::IpoibMode mode = nl::IpoibMode::datagram;
  bool umcast = false;
  Incidental<bool> joined;  // its broadcast group: it has carrier

  bool operator==(const Interface&) const = default;
};

struct RdmaDevice {
  Id id;
  ib::PciAddress function;
  DeviceGuid node_guid;
  DeviceGuid port_guid;
  Incidental<ib::Port> port;  // as the subnet manager left it; without the GUID
  Incidental<int> minor;      // of uverbsN, umadN and issmN
  bool deaf = false;          // without MAD agent (docs/kernel-notes.md#a-kill-in-a-bind)
  bool operator==(const RdmaDevice&) const = default;
};

struct NetNamespace {
  std::optional<Path> path;  // nothing: the host's, or one that is alive without a path
  bool found = true;         // false: no look at processes and mounts leads to it
  netns::Identity identity;
  std::map<std::string, Interface> interfaces;
  std::map<std::string, RdmaDevice> rdma;
  Incidental<int> last_index;
  bool operator==(const NetNamespace&) const = default;
};

// The settings of a VF in its PF's driver.
struct VfPfSettings {
  DeviceGuid node_guid;
  DeviceGuid port_guid;
  nl::LinkPolicy policy = nl::LinkPolicy::disable;
  bool operator==(const VfPfSettings&) const = default;
};

struct PciFunction {
  std::optional<ib::PciAddress> pf;
  uint32_t vf = 0;
  std::optional<std::string> driver;
  unsigned rdma_count = 1;  // how many RDMA devices its driver makes of it
  // Only for a PF:
  uint16_t vendor = 0x15b3;
  uint16_t device = 0x101b;
  uint32_t total_vfs = 127;
  bool autoprobe = true;                       // whether its VFs may be bound
  std::map<uint32_t, VfPfSettings> kept = {};  // of VFs that are not there now
  // Only for a VF: the GUID that it has while its PF has no setting for it, and the PF's setting.
  DeviceGuid made_with;
  DeviceGuid node_guid;
  DeviceGuid port_guid;
  nl::LinkPolicy policy = nl::LinkPolicy::disable;
  bool operator==(const PciFunction&) const = default;
};

inline constexpr int kHostId = 0;
// The MTU of broadcast groups with the IB MTU 2048.
inline constexpr uint32_t kDatagramMtu = 2044;

struct State {
  nl::RdmaNetnsMode rdma_mode = nl::RdmaNetnsMode::exclusive;
  std::map<int, NetNamespace> namespaces;
  std::map<ib::PciAddress, PciFunction> functions;
  Incidental<int> last_id;
  Incidental<int> last_namespace;
  Incidental<int> next_rdma_name;
  bool operator==(const State&) const = default;
};

// A line for everything that counts.
std::vector<std::string> lines(const State& state);
// The lines that are gone (-) and those that are new (+); empty for equal states.
std::string diff(const State& before, const State& after);

}  // namespace ibpod::fake
