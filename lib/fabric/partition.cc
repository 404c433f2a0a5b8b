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

Status check_members(const Tenancy& tenancy) {
  std::set<ib::Guid> seen;
  for (const StaticMember& member : tenancy.members) {
    const std::string where = "members: " + member.guid.text();
    TRY(ib::check_port_guid(member.guid).during(where));
    if (!seen.insert(member.guid).second) return Error(Code::invalid, where + " is there twice");
    if (member.comment.size() > kMostComment || !one_line(member.comment))
      return Error(Code::invalid, where + ": the comment has to be one line of at most 256 bytes");
  }
  return ok();
}

}  // namespace

std::string_view name(TenancyState state) { return kStates[static_cast<size_t>(state)]; }

std::optional<TenancyState> parse_tenancy_state(std::string_view text) {
  for (size_t i = 0; i < kStates.size(); ++i)
    if (kStates[i] == text) return static_cast<TenancyState>(i);
  return std::nullopt;
}

Status check(const Tenancy& tenancy) {
  Partition partition;
  partition.name = tenancy.name;
  partition.pkey = tenancy.pkey.value_or(ib::PKey(1));
  if (tenancy.mtu) partition.group.mtu = *tenancy.mtu;
  if (tenancy.rate) partition.group.rate = *tenancy.rate;
  if (tenancy.sl) partition.group.sl = *tenancy.sl;
  // As it is typed and written, before what a partition of a made-up P_Key would be told.
  TRY(ib::check_partition_name(tenancy.name).during("name"));
  if (tenancy.name == kDefaultName)
    return Error(Code::invalid, "name: Default is the partition that every port is in");
  if (tenancy.pkey) TRY(ib::check_tenant(*tenancy.pkey).during("pkey"));
  TRY(check_fields(partition));
  TRY(check(tenancy.allowed).during("allowed"));
  TRY(check_node_patterns(tenancy.nodes).during("nodes"));
  return check_members(tenancy);
}

bool allows(const Tenancy& tenancy, std::string_view name_space) {
  return contains(tenancy.allowed, name_space);
}

bool allows_node(const Tenancy& tenancy, std::string_view node) {
  return matches_node(tenancy.nodes, node);
}

}  // namespace ibpod::fabric
