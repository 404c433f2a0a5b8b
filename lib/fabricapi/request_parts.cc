#include "lib/fabricapi/request_parts.h"

#include "lib/fabricapi/fields.h"

#include <array>

namespace ibpod::fabricapi {
namespace {

using rpc::Part;
using Parts = std::span<const Part>;

// By the field numbers in api/ibpod/v1/fabric.proto.
constexpr std::array<Part, 3> kPartition{{{9, "partition.allowed", kMostNamespaces},
                                          {11, "partition.members", kMostMembers},
                                          {17, "partition.nodes", kMostNodePatterns}}};
constexpr std::array<Part, 1> kWithPartition{{{2, "partition", 1, kPartition}}};
constexpr std::array<Part, 1> kBind{{{8, "partitions", kMostMemberships}}};
constexpr std::array<Part, 1> kSync{{{3, "attachments", kMostAttachments}}};
constexpr std::array<Part, 1> kTable{
    {{2, "ports.table", kMostReportedTableEntries, {}, Part::Kind::numbers}}};
constexpr std::array<Part, 1> kObserve{{{4, "ports", kMostPorts, kTable}}};
constexpr std::array<Part, 1> kAllocate{{{4, "vfs", kMostVfs, {}, Part::Kind::numbers}}};
constexpr std::array<Part, 1> kExplain{{{2, "subjects", kMostSubjects}}};

}  // namespace

template <>
Parts parts_of<v1::CreatePartitionRequest>() {
  return kWithPartition;
}
template <>
Parts parts_of<v1::UpdatePartitionRequest>() {
  return kWithPartition;
}
template <>
Parts parts_of<v1::BindRequest>() {
  return kBind;
}
template <>
Parts parts_of<v1::SyncRequest>() {
  return kSync;
}
template <>
Parts parts_of<v1::ObserveRequest>() {
  return kObserve;
}
template <>
Parts parts_of<v1::AllocateGuidsRequest>() {
  return kAllocate;
}
template <>
Parts parts_of<v1::PlanRequest>() {
  return kWithPartition;
}
template <>
Parts parts_of<v1::ExplainFabricRequest>() {
  return kExplain;
}
template <>
Parts parts_of<v1::WatchBindingsRequest>() {
  return {};
}

}  // namespace ibpod::fabricapi
