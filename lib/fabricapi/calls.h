// Requests to a cluster's SM service and its answers, as plain values (api/ibpod/v1/fabric.proto).
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
  ib::Guid pf_guid;  // none: not reported
  std::string device;
  fabric::Pod pod;
  struct PartitionRequest {
    std::string partition;                         // empty: given by its P_Key
    std::optional<fabric::Membership> membership;  // nothing: the partition's own
    std::optional<ib::PKey> pkey = {};             // bit 15 clear; nothing: given by its name
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

// A page of a list. Only the service can read tokens.
struct PageRequest {
  uint32_t size = 0;  // 0: the service's limit
  std::string token;
  bool operator==(const PageRequest&) const = default;
};
template <typename Item>
struct ListPage {
  std::vector<Item> items;
  std::string next;  // empty: there are no more
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
  std::vector<AttachmentId> attachments;  // all attachments of the node
  // Ports that a pod may get: VFs by their GUIDs, PFs for IPoIB children.
  std::vector<ib::Guid> vfs = {}, pfs = {};
  // The boot ID of the node's kernel, at most 64 bytes: it distinguishes two machines of one name.
  // Empty from an agent that does not send it.
  std::string boot = {};
  bool operator==(const SyncRequest&) const = default;
};
struct SyncAnswer {
  std::vector<fabric::Binding> bindings;             // of the named attachments
  std::vector<SyncRequest::AttachmentId> not_bound;  // named attachments without a binding
  std::vector<fabric::Binding> not_named;            // the node's other bindings
  Duration lease{};                                  // the next Sync has to come before it ends
  // The `vfs` and `pfs` for which every Bind would be refused, because the service does not know
  // them as the node's.
  std::vector<ib::Guid> unknown = {};
  bool operator==(const SyncAnswer&) const = default;
};

// A node's report of its ports' tables, which are proof `node`.
struct ObserveRequest {
  std::string node;
  // The stamp of the last answer before the tables were read: it shows the service that they are
  // newer than its state of that time. Empty at first.
  std::string stamp;
  struct PortTable {
    ib::Guid guid;
    ib::PKeyTable table;  // all entries in order, including free ones
    bool operator==(const PortTable&) const = default;
  };
  std::vector<PortTable> ports;
  bool operator==(const ObserveRequest&) const = default;
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

struct ForgetRequest {
  std::string node;
  bool force = false;  // even if it may be alive
  bool operator==(const ForgetRequest&) const = default;
};

// Asks for the effects of a change: `partition` or `without`. Neither: the changes still pending.
struct PlanRequest {
  std::optional<fabric::Partition> partition;  // created or changed
  std::string without;                         // the name of a deleted one
  bool update = false;                         // `partition` changes an existing one
  bool operator==(const PlanRequest&) const = default;
};

// Asks about one pod or port, or whether two of them can reach each other, and why not.
struct ExplainRequest {
  std::vector<std::string> subjects;  // one or two: "[cluster/]namespace/pod", or a GUID
  bool operator==(const ExplainRequest&) const = default;
};
struct Explanation {
  struct Subject {
    std::string name;
    ib::Guid guid;
    std::optional<fabric::Binding> binding;  // none: a port outside Kubernetes, or an unused one
    std::string description;                 // of its node in the subnet
    std::string table, leaf_table;           // "0:0x7fff 1:0x8001", as last read
    std::string wanted;                      // "0x7fff 0x8001"
    fabric::WallTime seen{};
    std::vector<std::string> findings;
    bool operator==(const Subject&) const = default;
  };
  std::vector<Subject> subjects;
  std::vector<std::string> reach;  // for two subjects: a sentence per partition
  bool operator==(const Explanation&) const = default;
};

// Answers a call. It is called once, on any thread, and must be short.
template <typename Value>
using Done = std::function<void(Result<Value>)>;

// A watch of bindings, until it is destroyed.
class Watch {
 public:
  virtual ~Watch() = default;
};

}  // namespace ibpod::fabricapi
