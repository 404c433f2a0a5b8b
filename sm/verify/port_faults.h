// PortFaults: the ports for which the subnet manager has not put a part of the partitions in place,
// and the partitions that it has not put in place at all.
#pragma once

#include "lib/fabric/binding.h"
#include "sm/engine/subnet_manager.h"
#include "sm/verify/desired_keys.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::verify {

class PortFaults {
 public:
  // Returns the ports that have other faults than before, or none any more.
  std::set<ib::Guid> set(const std::vector<engine::PortFault>& faults);
  // Returns true if there are other faults than before.
  bool set_partitions(const std::vector<engine::PartitionFault>& faults);

  // The port may lack a key that it should have.
  bool not_added(ib::Guid port) const;
  // The port may hold, or get again, a key that it should not have.
  bool not_removed(ib::Guid port) const;
  // The texts of all its faults; nothing: it has none.
  std::optional<std::string> text(ib::Guid port) const;
  // The condition with the text of the port's faults, which are the cause, before its own.
  fabric::Condition add_to(ib::Guid port, fabric::Condition condition) const;
  // The partitions that are not in place at all: by P_Key (15 bits), the text.
  const std::map<uint16_t, std::string>& partitions() const { return partitions_; }
  // The fault of the first of them in `desired`: with a key of it a port is among the members of
  // another client's partition.
  std::optional<std::string> partition_fault(const DesiredTable& desired) const;

 private:
  using Texts = std::map<engine::PortFault::Kind, std::string>;
  bool has(ib::Guid port, engine::PortFault::Kind kind) const;

  std::map<ib::Guid, Texts> faults_;
  std::map<uint16_t, std::string> partitions_;
};

}  // namespace ibpod::sm::verify
