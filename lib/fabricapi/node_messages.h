// Messages about nodes, and their values; as in binding_messages.h.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/fabricapi/fabric.h"

namespace ibpod::fabricapi {

v1::SyncRequest to_message(const SyncRequest& request);
Result<SyncRequest> from_message(const v1::SyncRequest& message);
v1::SyncResponse to_message(const SyncAnswer& answer);
Result<SyncAnswer> from_message(const v1::SyncResponse& message);

v1::ObserveRequest to_message(const ObserveRequest& request);
Result<ObserveRequest> from_message(const v1::ObserveRequest& message);
v1::ObserveResponse to_message(const ObserveAnswer& answer);
Result<ObserveAnswer> from_message(const v1::ObserveResponse& message);

v1::AllocateGuidsRequest to_message(const AllocateRequest& request);
Result<AllocateRequest> from_message(const v1::AllocateGuidsRequest& message);
v1::AllocateGuidsResponse to_message(const std::vector<AllocatedGuid>& allocated);
Result<std::vector<AllocatedGuid>> from_message(const v1::AllocateGuidsResponse& message);

v1::ForgetNodeRequest to_message(const ForgetRequest& request);
Result<ForgetRequest> from_message(const v1::ForgetNodeRequest& message);

v1::FabricNode to_message(const Node& node);
Result<Node> from_message(const v1::FabricNode& message);
v1::ListNodesResponse to_message(const std::vector<Node>& nodes);
Result<std::vector<Node>> from_message(const v1::ListNodesResponse& message);

}  // namespace ibpod::fabricapi
