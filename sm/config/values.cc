#include "sm/config/values.h"

#include "lib/json/read.h"
#include "sm/partitions/values.h"

namespace ibpod::sm::config {
namespace {

using json::take;
using json::Value;

Result<state::Policy::NodePorts> read_node(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  state::Policy::NodePorts node;
  TRY(take(fields, "guids", node.guids));
  TRY(take(fields, "pfs", node.pfs));
  TRY(refuse_unknown(value, fields));
  return node;
}

Result<pool::RangeUse> read_use(const Value& value) {
  return json::read_word<pool::RangeUse>(
      value, {{"automatic", pool::RangeUse::automatic}, {"explicit", pool::RangeUse::by_request}});
}

// The first or last P_Key of a range, a partition number without membership.
Result<uint16_t> read_partition_number(const Value& value) {
  const ib::PKey pkey = TRY(partitions::read_pkey(value));
  return pkey.partition();
}

Result<pool::PKeyRange> read_pkey_range(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  pool::PKeyRange range;
  TRY(value.at("first"));
  TRY(value.at("last"));
  TRY(take(fields, "first", range.first, read_partition_number));
  TRY(take(fields, "last", range.last, read_partition_number));
  TRY(take(fields, "use", range.use, read_use));
  TRY(refuse_unknown(value, fields));
  return range;
}

Result<pool::GuidRange> read_guid_range(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  pool::GuidRange range;
  TRY(value.at("first"));
  TRY(value.at("last"));
  TRY(take(fields, "first", range.first));
  TRY(take(fields, "last", range.last));
  TRY(take(fields, "chosenBy", range.requested_by));
  TRY(refuse_unknown(value, fields));
  return range;
}

}  // namespace

Error unfit(const std::string& text) { return {Code::invalid, text}; }

Result<EngineKind> read_engine(const Value& value) {
  return json::read_word<EngineKind>(
      value,
      {{"opensm", EngineKind::opensm}, {"ufm", EngineKind::ufm}, {"observe", EngineKind::observe}});
}

Result<state::LeasePolicy> read_lease_end(const Value& value) {
  return json::read_word<state::LeasePolicy>(
      value, {{"hold", state::LeasePolicy::hold}, {"revoke", state::LeasePolicy::revoke}});
}

Result<fabric::PartitionDefinition> read_default_rule(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  fabric::PartitionDefinition rule = fabric::default_definition();
  fabric::Membership others = fabric::Membership::limited;
  TRY(take(fields, "others", others));
  if (others == fabric::Membership::both) return value.wrong("others: expected limited or full");
  TRY(take(fields, "ipoib", rule.ipoib));
  for (fabric::Member& member : rule.members)
    if (member.port.group() == fabric::PortGroup::all) member.membership = others;
  TRY(refuse_unknown(value, fields));
  return rule;
}

Result<std::map<std::string, state::Policy::NodePorts>> read_nodes(const Value& value) {
  const auto members = TRY(value.members());
  std::map<std::string, state::Policy::NodePorts> nodes;
  for (const auto& [name, member] : members) {
    nodes[name] = TRY(read_node(member));
  }
  return nodes;
}

Result<std::vector<pool::PKeyRange>> read_pkey_ranges(const Value& value) {
  return json::read_list(value, read_pkey_range);
}

Result<std::vector<pool::GuidRange>> read_guid_ranges(const Value& value) {
  return json::read_list(value, read_guid_range);
}

}  // namespace ibpod::sm::config
