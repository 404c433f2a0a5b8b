// AttachmentDriver: what differs between the kinds of attachment: a VF (vf_driver.h) and an IPoIB
// child (ipoib_driver.h). The verbs (verbs.h) are the same for both, and call it in this order.
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

  // What the network names, for the log; empty: nothing that can be read.
  virtual std::string subject() const = 0;
  // The folder of its records (node/records.h), whose lock keeps two attachments apart; empty: not
  // known.
  virtual std::string folder(const cni::Call& call) const = 0;
  // What the network wants of the interface.
  virtual const node::Spec& spec() const = 0;

  // For STATUS: whether the node has what an ADD of this network needs.
  virtual Status check_node(const Context& context) const = 0;

  // For ADD and CHECK: finds the device that the network leaves open. An ADD is denied one that the
  // kubelet has not given to the pod. False: this pod has no part in the network, and ADD answers
  // with an empty result.
  virtual Result<bool> resolve(const Context& context, Deadline deadline) = 0;

  // Whether the node's policy lets the pod have what it asks for.
  virtual Status check_allowed(const Context& context) const = 0;

  // Refuses what no ADD can work with as the node is now. Touches nothing. Returns the function
  // that will be changed, as it is before; nothing: none will be.
  virtual Result<std::optional<node::Function>> check_usable(const Context& context) const = 0;

  // Under the folder's lock, from the first look at the node on. The record says what is wanted and
  // takes what was found; when this returns it is on disk, as it was before the first change.
  virtual Status attach(const Context& context, node::Record& record, Deadline deadline) const = 0;

  // Waits, without the lock, until the interface is in the pod, and the pod in the partitions that
  // were asked for, if the node can see that. unavailable at the deadline.
  virtual Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                         IndexRequirement requirement, Deadline deadline) const = 0;

  // Tells others than the runtime what the pod has by now. `before`: what check_usable() returned.
  virtual Status publish(const Context& context, const node::Record& record,
                         const std::optional<TableEntry>& membership,
                         const std::optional<node::Function>& before) const = 0;

  // Whether it still is what ADD made of it, addresses aside; a difference is reported as 106.
  virtual Status check(const Context& context, const node::Record& record,
                       IndexRequirement requirement) const = 0;

  // For GC: ends what no record speaks of.
  virtual Status collect_strays(const Context& context) const = 0;
};

// The error of a CHECK that finds the attachment other than ADD has made it.
Error differs(const std::string& text);

}  // namespace ibpod::attach
