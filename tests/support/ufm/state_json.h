// Calls, faults, ports and the log as JSON, for the control path and the configuration of fake_ufm.
#pragma once

#include "lib/json/value.h"
#include "tests/support/ufm/call.h"
#include "tests/support/ufm/fault.h"
#include "tests/support/ufm/inventory.h"

#include <string>
#include <vector>

namespace ibpod::fake_ufm {

// Each is invalid for an unknown key or a wrong value.
Result<Call> read_call(const json::Value& object);
Result<Fault> read_fault(const json::Value& object);
Result<Port> read_port(const json::Value& object);
Result<Vport> read_vport(const json::Value& object);

json::Value to_json(const LogEntry& entry);
json::Value to_json(const Partitions& partitions);

}  // namespace ibpod::fake_ufm
