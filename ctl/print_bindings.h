// Bindings and nodes, as ibpodctl shows them.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

std::string as_table(const std::vector<fabric::Binding>& bindings);
std::string as_text(const fabric::Binding& binding);
json::Value as_json(const fabric::Binding& binding);
json::Value as_json(const std::vector<fabric::Binding>& bindings);

std::string as_table(const v1::ListNodesResponse& nodes);
json::Value as_json(const v1::FabricNode& node);
json::Value as_json(const v1::ListNodesResponse& nodes);

}  // namespace ibpod::ctl
