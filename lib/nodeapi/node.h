// Node: what a node's agent can be asked. The agent answers it, Client asks it through the agent's
// socket: both are the same interface (api/ibpod/v1/node.proto). Answers that are only shown are
// the messages themselves.
#pragma once

#include "api/ibpod/v1/node.pb.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/ib/pkey.h"

#include <compare>
#include <string>
#include <vector>

namespace ibpod::nodeapi {

struct DeviceQuestion {
  std::string pod_namespace;
  std::string pod_name;
  std::string resource;  // openib/vfs
  // The attachment that the device is for: its own record does not count as a holder.
  std::string container_id;
  std::string ifname;
  // PCI address: is it the pod's, of whatever resource? Empty: which one is?
  std::string device = {};
  bool operator==(const DeviceQuestion&) const = default;
};

// An attachment as its record has it.
struct AttachmentName {
  std::string container_id;
  std::string ifname;
  std::string attempt;  // of two ADDs of the same container and interface the one that is meant
  auto operator<=>(const AttachmentName&) const = default;
};

// How far an attachment is in its partitions. Words are those of lib/fabric.
struct Binding {
  std::string state;
  std::string reason;          // why it is no further
  std::string text;            // the same for people
  std::vector<ib::PKey> keys;  // once verified: of the partitions, in the order of the record
  std::string proof;
  std::string enforcement;
  bool granted = false;  // the SM service has granted the GUID that the pod has chosen
  bool verified() const { return state == "verified"; }
  bool released() const { return state == "released"; }
  bool operator==(const Binding&) const = default;
};

// Calls come from any thread. unavailable where a later try may do better.
class Node {
 public:
  virtual ~Node() = default;
  virtual Result<v1::ListDevicesResponse> devices(Deadline deadline) = 0;
  virtual Result<v1::ListAttachmentsResponse> attachments(Deadline deadline) = 0;
  // not_found for a device that the node does not have.
  virtual Result<v1::ExplainResponse> explain(const std::string& device, Deadline deadline) = 0;
  // The last observed health.
  virtual Result<v1::HealthResponse> health(Deadline deadline) = 0;
  // The same after a look at the node, which takes up to two seconds; for `doctor`.
  virtual Result<v1::HealthResponse> fresh_health(Deadline deadline) { return health(deadline); }
  // The PCI address of the VF that the kubelet gave the pod; empty: it has none of this resource.
  // Of several the first that no other attachment's record holds, else one that another pod's does.
  // unavailable where the kubelet did not answer, or other records of a pod of that name hold all.
  // Asked about one device it answers with that one, or with denied if the pod was not given it;
  // whose record holds it is not looked at. unsupported if the node has no kubelet.
  virtual Result<std::string> device_of(const DeviceQuestion& question, Deadline deadline) = 0;

  // Has the port of a recorded attachment brought into the partitions that its record names. Waits
  // until that is verified, or until the GUID that the pod has chosen is granted, or until the
  // deadline, and tells how far it is; or does not wait, and goes on by itself. unavailable without
  // a record of that attempt, invalid where its end has begun, unsupported without an SM service,
  // and where the device's PF is on the fabric of none.
  enum class Wait { no, granted, verified };
  virtual Result<Binding> bind(const AttachmentName& name, Wait wait, Deadline deadline) = 0;
  // Has it taken out of them, and waits likewise until its keys have left the port's table. An
  // attachment that was never bound counts as released, and so does an attempt that a later one has
  // replaced. Without an attempt in the name, the call is for the bound one.
  virtual Result<Binding> unbind(const AttachmentName& name, Deadline deadline) = 0;
};

}  // namespace ibpod::nodeapi
