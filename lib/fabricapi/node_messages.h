// Messages about nodes, and their values; as in binding_messages.h.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/calls.h"

namespace ibpod::fabricapi {

v1::SyncRequest to_message(const SyncRequest& request);
Result<SyncRequest> from_message(const v1::SyncRequest& message);
v1::SyncResponse to_message(const SyncAnswer& answer);
Result<SyncAnswer> from_message(const v1::SyncResponse& message);

v1::ObserveRequest to_message(const ObserveRequest& request);
Result<ObserveRequest> from_message(const v1::ObserveRequest& message);
Status check_answer(const v1::ObserveResponse& answer);

v1::AllocateGuidsRequest to_message(const AllocateRequest& request);
Result<AllocateRequest> from_message(const v1::AllocateGuidsRequest& message);
v1::AllocateGuidsResponse to_message(const std::vector<AllocatedGuid>& allocated);
Result<std::vector<AllocatedGuid>> from_message(const v1::AllocateGuidsResponse& message);

v1::ForgetNodeRequest to_message(const ForgetRequest& request);
Result<ForgetRequest> from_message(const v1::ForgetNodeRequest& message);

Status check_answer(const v1::FabricNode& node);
Status check_answer(const v1::ListNodesResponse& answer);

}  // namespace ibpod::fabricapi
