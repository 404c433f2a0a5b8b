// Plans and explanations of the fabric, as ibpodctl shows them.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"
#include "lib/json/value.h"

#include <string>

namespace ibpod::ctl {

std::string as_text(const v1::PlanResponse& plan);
json::Value as_json(const v1::PlanResponse& plan);

std::string as_text(const fabricapi::Explanation& explanation);
json::Value as_json(const fabricapi::Explanation& explanation);

}  // namespace ibpod::ctl
