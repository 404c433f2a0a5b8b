// AttachmentDriver: the steps that differ between the kinds of attachment: a VF (vf_driver.h) and
// an IPoIB child (ipoib_driver.h). The verbs (add.h, check.h …) are the same for both.
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

  // The folder of its records (node/records.h), whose lock keeps two attachments apart.
  virtual std::string folder(const cni::Call& call) const = 0;

  // Refuses what no ADD can work with as the node is now. Touches nothing.
  virtual Status check_usable(const Context& context) = 0;

  // Under the folder's lock, from the first look at the node on. The record says what is wanted and
  // takes what was found; when this returns it is on disk, as it was before the first change.
  virtual Status attach(const Context& context, node::Record& record, Deadline deadline) = 0;

  // Waits, without the lock, until the interface is in the pod, and the pod in the partitions that
  // were asked for, if the node can see that. unavailable at the deadline.
  virtual Result<ReadyResult> wait_ready(const Context& context, node::Record& record,
                                         IndexRequirement requirement, Deadline deadline) = 0;

  // Tells others than the runtime what the pod has by now.
  virtual Status publish(const Context& context, const node::Record& record,
                         const std::optional<TableEntry>& membership) = 0;

  // Whether it still is what ADD made of it, addresses aside; a difference is reported as 106.
  virtual Status check(const Context& context, const node::Record& record,
                       IndexRequirement requirement) = 0;
};

// The error of a CHECK that finds the attachment other than ADD has made it.
Error differs(const std::string& text);

}  // namespace ibpod::attach
