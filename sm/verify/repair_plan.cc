#include "sm/verify/repair_plan.h"

#include <algorithm>

namespace ibpod::sm::verify {

using probe::Repair;

const ib::PKeyTable* wrong_table(const Observation& observation, const TableFinding& finding) {
  const probe::ProbeResult& result = observation.result;
  if (!finding.switch_port) return std::get_if<ib::PKeyTable>(&result.table);
  return result.switch_port ? std::get_if<ib::PKeyTable>(&result.switch_port->table) : nullptr;
}

Result<std::vector<Repair>> plan_repairs(ib::Guid port, const ib::PKeyTable& table,
                                         const TableFinding& finding, const DesiredTable& desired) {
  const ib::PKeyTable right =
      TRY(repaired(table, finding.switch_port ? desired.anywhere() : desired));
  const Repair::Kind kind =
      finding.diff.foreign.empty() ? Repair::Kind::bind : Repair::Kind::revoke;
  const Repair::Table target =
      finding.switch_port ? Repair::Table::switch_port : Repair::Table::own;
  std::vector<Repair> repairs;
  for (const uint16_t block : mad::different_blocks(table, right))
    repairs.push_back(
        {kind, port, target, block, mad::block_of(table, block), mad::block_of(right, block)});
  return repairs;
}

// The subnet manager moves a port from INIT to ARMED after it has written the table. The state may
// be older than the table, so the table must look initial, too.
bool awaits_sm(const fabric::Port* port, const ib::PKeyTable& table) {
  const auto is_initial = [](ib::PKey key) {
    return key.partition() == 0 || key == ib::kDefaultFull;
  };
  return port != nullptr && port->state == ib::PortState::init &&
         std::all_of(table.begin(), table.end(), is_initial);
}

}  // namespace ibpod::sm::verify
