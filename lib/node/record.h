// Record: the spec and the original state of one attachment, on disk before the first change.
// Rollback, DEL, GC and recovery use nothing else (restore.h).
#pragma once

#include "lib/base/result.h"
#include "lib/ib/guid.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/pkey.h"
#include "lib/node/kernel.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::node {

// The two GUIDs of a VF.
struct Guids {
  ib::Guid node, port;
  // True if the VF has no GUID: all-zero and all-ones both mean that.
  bool none() const { return node.none() || port.none(); }
  bool operator==(const Guids&) const = default;
};
// True if both are equal, or both are none.
bool same(const Guids& a, const Guids& b);

// A partition requested from the cluster's SM service.
struct PartitionRequest {
  std::string name;                   // empty: the one that has this P_Key
  std::string membership = {};        // limited, full, both; empty: the partition's own
  std::optional<ib::PKey> pkey = {};  // bit 15 clear
  // The partition's name in logs and errors.
  std::string label() const { return pkey ? pkey->text() : name; }
  bool operator==(const PartitionRequest&) const = default;
};

struct Spec {
  std::string ifname;          // the interface's name in the pod
  std::optional<Guids> guids;  // nothing: the VF keeps its own
  std::optional<LinkPolicy> policy;
  std::optional<uint32_t> mtu;
  std::optional<ib::PKey> pkey;
  bool isolation = false;  // the pod gets the RDMA device, too
  std::vector<PartitionRequest> partitions = {};
  bool operator==(const Spec&) const = default;
};

// The interface's state in the host's namespace.
struct OriginalNetdev {
  std::string name;
  std::vector<std::string> altnames;
  uint32_t mtu = 0;
  bool up = false;
  nl::HardwareAddress address;
  nl::IpoibMode mode = nl::IpoibMode::datagram;
  bool umcast = false;
  std::vector<std::string> children;  // IPoIB children that existed before the pod
  bool operator==(const OriginalNetdev&) const = default;
};

struct Original {
  std::string driver;
  std::optional<OriginalNetdev> netdev;  // nothing under vfio-pci
  std::vector<OriginalNetdev>
      other_netdevs;  // of the function's other RDMA devices, if it has more than one
  std::vector<std::string> rdma_devices;  // their names, sorted
  std::optional<Guids> guids;             // the VF's own; nothing under vfio-pci
  std::optional<Guids> pf_configured;     // set in the PF; nothing: the PF cannot report it
  std::optional<LinkPolicy> policy;
  bool operator==(const Original&) const = default;
};

// The IPoIB child of an attachment of the plugin "ipoib".
struct Child {
  std::string link;      // its first name on the host; later its alias
  std::string master;    // its parent's name
  nl::IfIndex parent{};  // its parent's index on the host
  nl::IfIndex index{};   // its first index on the host, chosen before it is made
  ib::Guid port;         // the GUID of the parent's port
  ib::PKey pkey;
  nl::IpoibMode mode = nl::IpoibMode::datagram;
  bool umcast = false;
  nl::HardwareAddress address;  // empty: it has never left the host
  bool operator==(const Child&) const = default;
};

struct PodName {
  std::string name_space, name, uid;
  bool operator==(const PodName&) const = default;
};

// How far an attachment that names partitions has ended. ending: its port is being taken out of
// them, and nothing is bound for it. pkey_pending: all is undone, except that the port may still
// have the keys, and a GUID that the pod requested.
enum class Stage { attached, ending, pkey_pending };

struct Record {
  std::string plugin;   // "ib-sriov", "ipoib"
  std::string attempt;  // distinguishes ADDs of the same attachment
  std::string network;
  std::string container_id;
  std::string ifname;
  PodName pod;
  ib::PciAddress device;  // the VF, or the function of a child's parent
  std::optional<Child> child;
  Namespace netns;
  std::string boot_id;  // a record of another boot is never live
  Spec spec;
  Original original;
  Stage stage = Stage::attached;
  // restore() has begun to bind the VF or to move its RDMA devices home: if it is killed, a device
  // may lack its MAD agent, unnoticed, so the next restore() binds the VF again
  // (docs/kernel-notes.md#a-kill-in-a-bind). The rollback of a killed ADD binds or moves anyway.
  bool rebind_pending = false;
  // The ADD's input, for calling the network's IPAM plugin without the runtime.
  std::string configuration;
  std::string cni_args;
  std::string cni_path;
  bool operator==(const Record&) const = default;
};

// Writes the record to disk; it is durable when this returns.
using WriteRecord = std::function<Status(const Record&)>;

// The GUID of the port that the pod or its child uses; none: not known.
ib::Guid port_of(const Record& record);
// True if the pod requests a GUID other than the VF's own.
bool has_requested_guid(const Record& record);

// Versioned, with a checksum. parse_record(): invalid for a damaged text, unsupported for an
// unknown version. A record that names partitions has version 2, because a program that does not
// know them would leave the keys on the port; all others have version 1.
std::string text_of(const Record& record);
Result<Record> parse_record(std::string_view text);

}  // namespace ibpod::node
