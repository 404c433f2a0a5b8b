// ProbeResult: a port's own P_Key table, or why it is not known.
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

// A closed set: also a label of metrics.
enum class ProbeFailure {
  unreachable,    // the packet could not be sent, because of our own device or port
  timeout,        // no answer, or the subnet was not read whole: the port may be present
  deadline,       // there were too many other requests
  refused,        // the port answered with a status other than success
  not_permitted,  // no answer to a Set: the port has another M_Key
  malformed,      // an invalid answer
  cancelled,
  port_unknown,    // not in the topology, which is complete
  other_port,      // another port answers there: the port has moved
  duplicate_guid,  // the GUID was found at two places
  changed,         // of a repair: the block was not as expected
};
// "unreachable", "timeout" and so on, in words.
std::string_view name(ProbeFailure why);

struct ProbeError {
  ProbeFailure failure = ProbeFailure::port_unknown;
  uint16_t status = 0;  // of a refusal
  bool operator==(const ProbeError&) const = default;
  // "timeout", "refused: busy"
  std::string text() const;
};
ProbeError probe_error(const mad::Failure& failure);

// A table has all its entries; free ones are 0x0000.
using TableOrError = std::variant<ib::PKeyTable, ProbeError>;

// The table of the switch port that the port is connected to, and whether the switch enforces it.
struct SwitchPortResult {
  TableOrError table;  // empty if the switch cannot enforce partitions
  bool inbound = false;
  bool outbound = false;
  bool operator==(const SwitchPortResult&) const = default;
};

struct ProbeResult {
  ib::Guid port;
  // The table is certainly the port's: its LID was read before, and its GUID again afterwards.
  TableOrError table = ProbeError{};
  // Nothing if it is connected to no switch, or to one that does not report its enforcement.
  std::optional<SwitchPortResult> switch_port = {};
  // The error of the first repair of this port that failed. The tables above are as read
  // afterwards.
  std::optional<ProbeError> repair_error = {};
  // True if this probe had a repair, which has ended: none of its writes is on the wire.
  bool after_repair = false;
  bool operator==(const ProbeResult&) const = default;
};

struct ProbeBatch {
  using Time = Deadline::Clock::time_point;
  Time begun;  // before the first packet: the tables are not older
  // The last topology; for a full scan, discovered just before the tables were read.
  std::shared_ptr<const fabric::Topology> topology;
  std::vector<ProbeResult> ports;
  // All ports of the topology. If that is complete, too, a port that is not in it is absent.
  bool full_scan = false;
  bool complete = false;
  size_t packets = 0;  // without retries, and without those of the discovery
};

}  // namespace ibpod::sm::probe
