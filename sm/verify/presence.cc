#include "sm/verify/presence.h"

#include <algorithm>

namespace ibpod::sm::verify {
namespace {

bool holds(const ib::PKeyTable& table, ib::PKey pkey) {
  return std::any_of(table.begin(), table.end(),
                     [&](ib::PKey key) { return key.same_partition(pkey); });
}

bool holds(const probe::TableOrError& read, ib::PKey pkey) {
  const auto* const table = std::get_if<ib::PKeyTable>(&read);
  return table != nullptr && holds(*table, pkey);
}

}  // namespace

bool is_absent(const PortObservations& observations, ib::Guid port) {
  const fabric::Topology& topology = observations.topology();
  return topology.is_complete() && observations.of_own_subnet() && topology.find(port) == nullptr;
}

// Before the first scan, and after an incomplete one, any port may be on the subnet.
bool may_be_present(const PortObservations& observations, ib::Guid port) {
  return !observations.last_scan() || !is_absent(observations, port) ||
         observations.find_node_report(port) != nullptr;
}

bool is_silent(const PortObservations& observations, ib::Guid port) {
  const Observation* const observation = observations.find_port(port);
  const bool read =
      observation != nullptr && std::holds_alternative<ib::PKeyTable>(observation->result.table);
  return !read && observations.find_node_report(port) == nullptr;
}

bool is_known_to_hold(const PortObservations& observations, ib::Guid port, ib::PKey pkey) {
  const NodeObservation* const report = observations.find_node_report(port);
  if (report != nullptr && holds(report->table, pkey)) return true;
  const Observation* const observation = observations.find_port(port);
  if (observation == nullptr) return false;
  const probe::ProbeResult& result = observation->result;
  return holds(result.table, pkey) ||
         (result.switch_port && holds(result.switch_port->table, pkey));
}

std::string wrong_subnet(const PortObservations& observations) {
  if (observations.of_own_subnet() || !observations.topology().is_complete()) return "";
  return "the scanned subnet does not contain the subnet manager's port " +
         observations.sm_port()->text() + "; check `look` and `opensm.port`";
}

}  // namespace ibpod::sm::verify
