// ProbeResult: what a port's own P_Key table said, or why that is not known.
#pragma once

#include "lib/base/clock.h"
#include "lib/fabric/topology.h"
#include "lib/ib/pkey.h"
#include "lib/mad/request.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ibpod::sm::probe {

// A closed set, so that it may be the label of a metric.
enum class ProbeFailure {
  unreachable,    // the packet could not be sent: our own device or port
  timeout,        // nothing came back, or not from all of the subnet: it may be there
  deadline,       // there were too many other questions
  refused,        // the port says no, and its status says why
  not_permitted,  // it is silent to a Set: another M_Key than ours
  malformed,      // what came back makes no sense
  cancelled,
  port_unknown,    // it is not in the topology, which is whole
  other_port,      // who answers there is another port: it has moved
  duplicate_guid,  // its GUID was met at two places
  changed,         // of a repair: the block was no longer what it was to be
};
// unreachable, timeout … port unknown
std::string_view name(ProbeFailure why);

struct ProbeError {
  ProbeFailure failure = ProbeFailure::port_unknown;
  uint16_t status = 0;  // of a refusal
  bool operator==(const ProbeError&) const = default;
  // "timeout", "refused: busy"
  std::string text() const;
};
ProbeError probe_error(const mad::Failure& failure);

// As many keys as the table has places, free ones as 0x0000.
using TableOrError = std::variant<ib::PKeyTable, ProbeError>;

// The table of the switch port that the port is connected to, and whether it is heeded there.
struct SwitchPortResult {
  TableOrError table;  // empty where the switch cannot enforce
  bool inbound = false;
  bool outbound = false;
  bool operator==(const SwitchPortResult&) const = default;
};

struct ProbeResult {
  ib::Guid port;
  // It is the port's: its LID was so when it was found or last read, and who answers there was
  // asked for its GUID once more behind the table.
  TableOrError table = ProbeError{};
  // Nothing: it has no switch beside it, or none that says whether it enforces.
  std::optional<SwitchPortResult> switch_port = {};
  // Where a repair of this port was asked for and one of it failed, the first that did. What the
  // tables are now is above.
  std::optional<ProbeError> repair_error = {};
  // It is of the visit of a repair: what that has written is on the wire no more.
  bool after_repair = false;
  bool operator==(const ProbeResult&) const = default;
};

struct ProbeBatch {
  using Time = Deadline::Clock::time_point;
  Time begun;  // before the first packet: what was done by then, they show
  // As it was seen last, in a whole reading just before the tables.
  std::shared_ptr<const fabric::Topology> topology;
  std::vector<ProbeResult> ports;
  // All ports of the topology. Where that is whole, too, a port that is not named is not there.
  bool full_scan = false;
  bool complete = false;
  size_t packets = 0;  // without repeated ones, and without those of the survey
};

}  // namespace ibpod::sm::probe
