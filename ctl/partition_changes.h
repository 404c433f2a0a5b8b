// The commands that change a partition: what they do with the change is the caller's, to make it or
// to plan it.
#pragma once

#include "ctl/session.h"
#include "lib/fabric/partition.h"

#include <functional>
#include <optional>

namespace ibpod::ctl {

struct Change {
  enum class Kind { create, update, remove };
  Kind kind = Kind::create;
  fabric::Partition partition;                      // of one that is removed only the name
  std::optional<fabric::PartitionStatus> now = {};  // of one that is updated
  bool forget_ports = false;  // of one that is removed: do not wait for ports that cannot be asked
};

using ChangeAction = std::function<Result<Answer>(const Session&, Service&, const Change&)>;

// create, update, delete, member add, member remove. An update is made of what the service has now:
// who changes the same partition at the same time may undo it.
std::vector<Command> partition_changes(Session& session, const ChangeAction& action);

}  // namespace ibpod::ctl
