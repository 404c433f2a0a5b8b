#include "lib/fabric/partition.h"

#include "lib/fabric/partition_definition.h"

#include <algorithm>
#include <array>
#include <set>

namespace ibpod::fabric {
namespace {

constexpr std::array<std::string_view, 4> kStates{"provisioning", "ready", "deleting", "error"};
constexpr size_t kMostComment = 256;

bool one_line(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
}

Status check_members(const Partition& partition) {
  std::set<ib::Guid> seen;
  for (const StaticMember& member : partition.members) {
    const std::string where = "members: " + member.guid.text();
    TRY(ib::check_port_guid(member.guid).during(where));
    if (!seen.insert(member.guid).second) return Error(Code::invalid, where + " is listed twice");
    if (member.comment.size() > kMostComment || !one_line(member.comment))
      return Error(Code::invalid, where + ": the comment must be one line of at most 256 bytes");
  }
  return ok();
}

}  // namespace

std::string_view name(PartitionState state) { return kStates[static_cast<size_t>(state)]; }

std::optional<PartitionState> parse_partition_state(std::string_view text) {
  for (size_t i = 0; i < kStates.size(); ++i)
    if (kStates[i] == text) return static_cast<PartitionState>(i);
  return std::nullopt;
}

Status check(const Partition& partition) {
  PartitionDefinition definition;
  definition.name = partition.name;
  definition.pkey = partition.pkey.value_or(ib::PKey(1));
  if (partition.mtu) definition.group.mtu = *partition.mtu;
  if (partition.rate) definition.group.rate = *partition.rate;
  if (partition.sl) definition.group.sl = *partition.sl;
  // Checked first, because a message about the placeholder P_Key would mislead.
  TRY(ib::check_partition_name(partition.name).during("name"));
  if (partition.name == kDefaultName)
    return Error(Code::invalid, "name: Default is reserved for the default partition");
  if (partition.pkey) TRY(ib::check_tenant(*partition.pkey).during("pkey"));
  TRY(check_fields(definition));
  TRY(check(partition.allowed).during("allowed"));
  TRY(check_node_patterns(partition.nodes).during("nodes"));
  return check_members(partition);
}

bool allows(const Partition& partition, std::string_view name_space) {
  return contains(partition.allowed, name_space);
}

bool allows_node(const Partition& partition, std::string_view node) {
  return matches_node(partition.nodes, node);
}

}  // namespace ibpod::fabric
