// Messages for operators: plans, explanations, health; as in binding_messages.h. Text from the
// subnet is cleaned when written (cleaned() in fields.h).
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"

namespace ibpod::fabricapi {

v1::PlanRequest to_message(const PlanRequest& request);
Result<PlanRequest> from_message(const v1::PlanRequest& message);
v1::PlanResponse to_message(v1::PlanResponse plan);
// invalid if it takes a time that is no number.
Status check_answer(const v1::PlanResponse& plan);

v1::ExplainFabricRequest to_message(const ExplainRequest& request);
Result<ExplainRequest> from_message(const v1::ExplainFabricRequest& message);
v1::ExplainFabricResponse to_message(const Explanation& explanation);
Result<Explanation> from_message(const v1::ExplainFabricResponse& message);

v1::FabricHealthResponse to_message(v1::FabricHealthResponse health);

}  // namespace ibpod::fabricapi
