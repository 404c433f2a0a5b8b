// Bindings and nodes, as ibpodctl shows them.
#pragma once

#include "lib/fabricapi/fabric.h"
#include "lib/json/value.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

std::string as_table(const std::vector<fabric::Binding>& bindings);
std::string as_text(const fabric::Binding& binding);
json::Value as_json(const fabric::Binding& binding);
json::Value as_json(const std::vector<fabric::Binding>& bindings);

std::string as_table(const std::vector<fabricapi::Node>& nodes);
json::Value as_json(const fabricapi::Node& node);
json::Value as_json(const std::vector<fabricapi::Node>& nodes);

}  // namespace ibpod::ctl
