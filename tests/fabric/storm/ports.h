// The contents of the ports' tables, and the time until they were as expected.
#pragma once

#include "lib/fabric/topology.h"
#include "lib/ib/pkey.h"
#include "lib/mad/scheduler.h"
#include "tests/fabric/setting.h"
#include "tests/fabric/storm/times.h"
#include "tests/support/port_tables.h"

#include <memory>
#include <optional>
#include <vector>

namespace ibpod {

class Ports {
 public:
  Ports();
  // In the order asked for; nothing: it could not be read.
  std::vector<std::optional<ib::PKeyTable>> tables(const std::vector<unsigned>& hosts);
  std::optional<bool> has(unsigned host, ib::PKey key);
  // Writes the first block of each directly, unknown to the subnet manager.
  void write(const std::vector<unsigned>& hosts, const std::vector<ib::PKeyTable>& tables);

 private:
  mad::PKeyTableAddress place(unsigned host) const;
  std::unique_ptr<mad::Scheduler> scheduler_;
  std::unique_ptr<fabric::Topology> survey_;
};

}  // namespace ibpod
