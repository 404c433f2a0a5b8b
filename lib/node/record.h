// Record: what one attachment wants and what it found, on disk before the first change. The only
// truth about an attachment: rollback, DEL, GC and recovery all work from it alone (restore.h).
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

// A pair of GUIDs, as a VF has them.
struct Guids {
  ib::Guid node, port;
  // Without any: all-zero and all-ones are the same to us.
  bool none() const { return node.none() || port.none(); }
  bool operator==(const Guids&) const = default;
};
// Whether both say the same, where "none" has two spellings.
bool same(const Guids& a, const Guids& b);

// A partition that the cluster's SM service is asked for.
struct PartitionRequest {
  std::string name;                   // empty: the one that has this P_Key
  std::string membership = {};        // limited, full, both; empty: the partition's own
  std::optional<ib::PKey> pkey = {};  // bit 15 clear
  // For people.
  std::string label() const { return pkey ? pkey->text() : name; }
  bool operator==(const PartitionRequest&) const = default;
};

struct Spec {
  std::string ifname;          // the interface's name in the pod
  std::optional<Guids> guids;  // nothing: those that the VF has
  std::optional<LinkPolicy> policy;
  std::optional<uint32_t> mtu;
  std::optional<ib::PKey> pkey;
  bool isolation = false;  // the RDMA device goes into the pod too
  std::vector<PartitionRequest> partitions = {};
  bool operator==(const Spec&) const = default;
};

// The interface as it was in the host's namespace.
struct OriginalNetdev {
  std::string name;
  std::vector<std::string> altnames;
  uint32_t mtu = 0;
  bool up = false;
  nl::HardwareAddress address;
  nl::IpoibMode mode = nl::IpoibMode::datagram;
  bool umcast = false;
  std::vector<std::string> children;  // IPoIB children that were there before the pod
  bool operator==(const OriginalNetdev&) const = default;
};

struct Original {
  std::string driver;
  std::optional<OriginalNetdev> netdev;  // nothing under vfio-pci
  std::vector<OriginalNetdev>
      other_netdevs;  // of the function's further RDMA devices, where it has them
  std::vector<std::string> rdma_devices;  // their names, sorted
  std::optional<Guids> guids;             // the VF's own; nothing under vfio-pci
  std::optional<Guids> pf_configured;     // what the PF had been told; nothing where it cannot say
  std::optional<LinkPolicy> policy;
  bool operator==(const Original&) const = default;
};

// The IPoIB child that an attachment of the plugin "ipoib" is.
struct Child {
  std::string link;      // its name on the host, before it goes to the pod; its alias all its life
  std::string master;    // its parent's name
  nl::IfIndex parent{};  // its parent's number on the host
  nl::IfIndex index{};   // its own there, until it goes to the pod; chosen before it is made
  ib::Guid port;         // the GUID of the parent's port
  ib::PKey pkey;
  nl::IpoibMode mode = nl::IpoibMode::datagram;
  bool umcast = false;
  nl::HardwareAddress address;  // once it is made; empty: it has never left the host
  bool operator==(const Child&) const = default;
};

struct PodName {
  std::string name_space, name, uid;
  bool operator==(const PodName&) const = default;
};

// How far the end of an attachment that names partitions is. ending: from before its port is taken
// out of them; nothing is bound for it any more. keyed: the port may still have their keys; all
// else is undone, but that it keeps a GUID of the pod's choice.
enum class Stage { attached, ending, pkey_pending };

struct Record {
  std::string plugin;   // "ib-sriov", "ipoib"
  std::string attempt;  // tells two ADDs of the same attachment apart
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
  // restore() has begun to bind the VF, or to move its RDMA devices home, and has not finished. A
  // process that is killed meanwhile may leave a device without its MAD agent, and nothing shows
  // it (docs/kernel-notes.md#a-kill-in-a-bind): the next restore() binds the VF once more. A killed
  // ADD needs no mark: undoing its bind or move binds or moves again.
  bool rebind_pending = false;
  // To call the network's IPAM again without the runtime: what the ADD was called with.
  std::string configuration;
  std::string cni_args;
  std::string cni_path;
  bool operator==(const Record&) const = default;
};

// Has the record on disk, flushed, when it returns.
using WriteRecord = std::function<Status(const Record&)>;

// The GUID of the port that the pod is given, or that its child is on; none: it is not known.
ib::Guid port_of(const Record& record);
// Whether the VF is to have another GUID than its own.
bool has_requested_guid(const Record& record);

// Versioned and checksummed. parse_record() answers invalid for a damaged text and unsupported for
// a version it does not know. A program that knows nothing of partitions would end an attachment
// and leave its key on the port: a record that names some is of version 2, all others of version 1.
std::string text_of(const Record& record);
Result<Record> parse_record(std::string_view text);

}  // namespace ibpod::node
