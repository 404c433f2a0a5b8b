// The most parts of each request that has repeated parts: the limits of fields.h, checked before
// the request is parsed.
#pragma once

#include "api/ibpod/v1/fabric.pb.h"
#include "lib/rpc/parts.h"

#include <span>

namespace ibpod::fabricapi {

template <typename Request>
std::span<const rpc::Part> parts_of();

template <>
std::span<const rpc::Part> parts_of<v1::CreatePartitionRequest>();
template <>
std::span<const rpc::Part> parts_of<v1::UpdatePartitionRequest>();
template <>
std::span<const rpc::Part> parts_of<v1::BindRequest>();
template <>
std::span<const rpc::Part> parts_of<v1::SyncRequest>();
template <>
std::span<const rpc::Part> parts_of<v1::ObserveRequest>();
template <>
std::span<const rpc::Part> parts_of<v1::AllocateGuidsRequest>();
template <>
std::span<const rpc::Part> parts_of<v1::PlanRequest>();
template <>
std::span<const rpc::Part> parts_of<v1::ExplainFabricRequest>();

template <>
std::span<const rpc::Part> parts_of<v1::WatchBindingsRequest>();

}  // namespace ibpod::fabricapi
