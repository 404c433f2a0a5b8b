// AttachmentDriver: the part of an attachment that depends on its kind: VF (vf_driver.h) or IPoIB
// child (ipoib_driver.h). The verbs (verbs.h) are common to both, and call a driver's functions in
// this order.
#pragma once

#include "lib/attach/context.h"
#include "lib/attach/partition.h"
#include "lib/base/clock.h"
#include "lib/node/record.h"

#include <optional>
#include <string>

namespace ibpod::attach {

class AttachmentDriver {
 public:
  virtual ~AttachmentDriver() = default;

  // The device that the network names, for the log; empty if it cannot be read.
  virtual std::string subject() const = 0;
  // The folder of its records (node/records.h), whose lock excludes other attachments; empty: not
  // known.
  virtual std::string folder(const cni::Call& call) const = 0;
  // The network's spec of the interface.
  virtual const node::Spec& spec() const = 0;

  // For STATUS: ok if the node has everything that an ADD of this network needs.
  virtual Status check_node(const Context& context) const = 0;

  // For ADD and CHECK: finds the device if the network does not name it. ADD is denied a device
  // that the kubelet has not given to the pod. False: the pod has no device of this network, and
  // ADD returns an empty result.
  virtual Result<bool> resolve(const Context& context, Deadline deadline) = 0;

  // ok if the node's policy allows this attachment.
  virtual Status check_allowed(const Context& context) const = 0;

  // Refuses a device that no ADD can use in the node's present state. Changes nothing. Returns the
  // device's character devices before the change; none if it will not be changed.
  virtual Result<std::vector<std::string>> check_usable(const Context& context) const = 0;

  // The caller holds the folder's lock. Completes the record with the original state and writes it
  // to disk before the first change.
  virtual Status attach(const Context& context, node::Record& record, Deadline deadline) const = 0;

  // Waits, without the lock, until the interface is in the pod and, if the node can see that, the
  // pod is in its partitions. unavailable at the deadline.
  virtual Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                         IndexRequirement requirement, Deadline deadline) const = 0;

  // Publishes the result to others than the runtime (the device-info file). `char_devices`: as
  // returned by check_usable().
  virtual Status publish(const Context& context, const node::Record& record,
                         const std::optional<TableEntry>& membership,
                         const std::vector<std::string>& char_devices) const = 0;

  // ok if the interface is still as ADD made it, addresses aside; a difference is reported as 106.
  virtual Status check(const Context& context, const node::Record& record,
                       IndexRequirement requirement) const = 0;

  // For GC: removes devices of ours without a record.
  virtual Status collect_strays(const Context& context) const = 0;
};

// The error of a CHECK that finds a difference from the state after ADD.
Error differs(const std::string& text);

}  // namespace ibpod::attach
