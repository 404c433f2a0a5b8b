// What a cluster's SM service can be asked, and what it answers, in plain values
// (api/ibpod/v1/fabric.proto).
#pragma once

#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/fabric/binding.h"
#include "lib/fabric/partition.h"
#include "lib/fabricapi/call_context.h"
#include "lib/fabricapi/caller.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::fabricapi {

struct BindRequest {
  fabric::Attachment attachment;
  ib::Guid guid;
  bool guid_requested = false;  // by the pod: it is not the VF's own
  fabric::Kind kind = fabric::Kind::vf;
  std::string pf;
  ib::Guid pf_guid;  // none: not told
  std::string device;
  fabric::Pod pod;
  struct PartitionRequest {
    std::string partition;                         // its name; empty where the P_Key stands for it
    std::optional<fabric::Membership> membership;  // nothing: the partition's own
    std::optional<ib::PKey> pkey = {};             // bit 15 clear; nothing: it is named
    bool operator==(const PartitionRequest&) const = default;
  };
  std::vector<PartitionRequest> partitions;
  bool operator==(const BindRequest&) const = default;
};

// An empty field matches everything.
struct BindingFilter {
  std::string node;
  std::string partition;
  std::string name_space;
  std::string pod;
  std::optional<ib::Guid> guid;
  std::optional<fabric::BindingState> state;
  bool operator==(const BindingFilter&) const = default;
};
bool matches(const BindingFilter& filter, const fabric::Binding& binding);

// Where a list goes on. Tokens mean something to the service only.
struct PageRequest {
  uint32_t size = 0;  // 0: the service's choice, which is also the most
  std::string token;
  bool operator==(const PageRequest&) const = default;
};
template <typename Item>
struct ListPage {
  std::vector<Item> items;
  std::string next;  // empty: that was all
  bool operator==(const ListPage&) const = default;
};

// One change that a watch reports.
struct BindingChange {
  fabric::Binding binding;
  bool gone = false;
  bool operator==(const BindingChange&) const = default;
};

struct SyncRequest {
  std::string node;
  struct AttachmentId {
    std::string container;
    std::string interface;
    bool operator==(const AttachmentId&) const = default;
  };
  std::vector<AttachmentId> attachments;  // all that the node has
  // Ports that a pod could be given: VFs by their GUIDs, PFs for IPoIB children.
  std::vector<ib::Guid> vfs = {}, pfs = {};
  // The boot ID of the node's kernel, at most 64 bytes: it distinguishes two machines of one name.
  // Empty from an agent that does not send it.
  std::string boot = {};
  bool operator==(const SyncRequest&) const = default;
};
struct SyncAnswer {
  std::vector<fabric::Binding> bindings;             // of those named
  std::vector<SyncRequest::AttachmentId> not_bound;  // named, and without a binding here
  std::vector<fabric::Binding> not_named;            // the node's other ones
  Duration lease{};                                  // within which the next Sync has to come
  // Those of `vfs` and `pfs` that every Bind would refuse, because the service does not know them
  // as the node's.
  std::vector<ib::Guid> unknown = {};
  bool operator==(const SyncAnswer&) const = default;
};

// The witness `node`.
struct ObserveRequest {
  std::string node;
  // The stamp of the latest answer that had come before the tables were read: so the service knows
  // that they were read later than what it had done by then. Empty at first.
  std::string stamp;
  struct PortTable {
    ib::Guid guid;
    ib::PKeyTable table;  // places in order, free ones too
    bool operator==(const PortTable&) const = default;
  };
  std::vector<PortTable> ports;
  bool operator==(const ObserveRequest&) const = default;
};
struct ObserveAnswer {
  std::string stamp;
  std::vector<ib::Guid> wanted;  // ports whose tables the service waits for
  bool operator==(const ObserveAnswer&) const = default;
};

struct AllocateRequest {
  std::string node;
  std::string pf;  // PCI address
  std::vector<uint32_t> vfs;
  bool operator==(const AllocateRequest&) const = default;
};
struct AllocatedGuid {
  uint32_t vf = 0;
  ib::Guid guid;
  bool operator==(const AllocatedGuid&) const = default;
};

struct Node {
  std::string name;
  std::optional<fabric::WallTime> last_heard;  // nothing: not since the service started
  size_t bindings = 0;
  size_t guids = 0;
  bool forgetting = false;
  bool operator==(const Node&) const = default;
};

struct ForgetRequest {
  std::string node;
  bool force = false;  // although it may be alive
  bool operator==(const ForgetRequest&) const = default;
};

// Asks for the effects of a change: `partition` or `without`. Neither: the changes still pending.
struct PlanRequest {
  std::optional<fabric::Partition> partition;  // created, or what one that there is becomes
  std::string without;                         // the name of one that is deleted
  bool update = false;                         // `partition` changes an existing one
  bool operator==(const PlanRequest&) const = default;
};
struct Plan {
  struct Port {
    ib::Guid guid;
    std::string description;  // of its node
    std::string before;       // "0:0x7fff 1:0x8001"
    std::string after;
    bool operator==(const Port&) const = default;
  };
  std::vector<Port> ports;         // the first kMostPlanned of them
  uint64_t changed = 0;            // ports, all of them
  uint64_t unseen = 0;             // ports whose tables are not known
  uint64_t packets = 0;            // SMPs that write, at least
  double seconds = 0;              // until it is verified, as the last sweeps took
  std::vector<std::string> notes;  // what an administrator should know before
  bool operator==(const Plan&) const = default;
};
inline constexpr size_t kMostPlanned = 1000;

// Asks about one pod or port, or why two of them reach each other or not.
struct ExplainRequest {
  std::vector<std::string> subjects;  // one or two: "namespace/pod", or a GUID
  bool operator==(const ExplainRequest&) const = default;
};
struct Explanation {
  struct Subject {
    std::string name;
    ib::Guid guid;
    std::optional<fabric::Binding> binding;  // none: a port outside Kubernetes, or a free one
    std::string description;                 // of its node in the subnet
    std::string table, leaf_table;           // "0:0x7fff 1:0x8001", as last seen
    std::string wanted;                      // "0x7fff 0x8001"
    fabric::WallTime seen{};
    std::vector<std::string> findings;
    bool operator==(const Subject&) const = default;
  };
  std::vector<Subject> subjects;
  std::vector<std::string> reach;  // of two: partitions in which they reach each other, and why not
  bool operator==(const Explanation&) const = default;
};

// One problem of the fabric, with its remedy.
struct Finding {
  std::string subject;
  std::string text;
  std::string remedy;
  bool operator==(const Finding&) const = default;
};
struct FabricHealth {
  std::vector<Finding> findings;
  std::string engine;  // "opensm: serving, version 12 of 12 in force"
  bool operator==(const FabricHealth&) const = default;
};

// Answers a call. It runs once, on whatever thread, and must be short.
template <typename Value>
using Done = std::function<void(Result<Value>)>;

// A client that watches bindings, until it is destroyed.
class Watch {
 public:
  virtual ~Watch() = default;
};

}  // namespace ibpod::fabricapi
