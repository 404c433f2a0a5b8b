#include "sm/config/values.h"

#include "lib/json/take.h"
#include "sm/declared/values.h"

#include <initializer_list>
#include <set>

namespace ibpod::sm {
namespace {

using json::take;
using json::Value;

template <typename Meaning>
Result<Meaning> read_word(const Value& value,
                          std::initializer_list<std::pair<std::string_view, Meaning>> words) {
  const std::string word = TRY(value.string());
  std::string known;
  for (const auto& [name, meaning] : words) {
    if (word == name) return meaning;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  return value.wrong("expected one of " + known + "; got \"" + word + "\"");
}

Result<std::set<ib::Guid>> read_guids(const Value& value) {
  const std::vector<ib::Guid> guids = TRY(json::read_list(value, read_guid));
  return std::set<ib::Guid>(guids.begin(), guids.end());
}

Result<Policy::NodeGuids> read_node(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  Policy::NodeGuids node;
  TRY(take(fields, "guids", node.guids, read_guids));
  TRY(take(fields, "pfs", node.pfs, read_guids));
  TRY(refuse_unknown(value, fields));
  return node;
}

Result<Use> read_use(const Value& value) {
  return read_word<Use>(value, {{"automatic", Use::automatic}, {"explicit", Use::by_request}});
}

// A P_Key is a range's end as it names a partition: without membership.
Result<uint16_t> read_partition_number(const Value& value) {
  const ib::PKey pkey = TRY(read_pkey(value));
  return pkey.partition();
}

Result<PKeyRange> read_pkey_range(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  PKeyRange range;
  TRY(value.at("first"));
  TRY(value.at("last"));
  TRY(take(fields, "first", range.first, read_partition_number));
  TRY(take(fields, "last", range.last, read_partition_number));
  TRY(take(fields, "use", range.use, read_use));
  TRY(refuse_unknown(value, fields));
  return range;
}

Result<GuidRange> read_guid_range(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  GuidRange range;
  TRY(value.at("first"));
  TRY(value.at("last"));
  TRY(take(fields, "first", range.first, read_guid));
  TRY(take(fields, "last", range.last, read_guid));
  TRY(take(fields, "chosenBy", range.chosen_by, read_namespaces));
  TRY(refuse_unknown(value, fields));
  return range;
}

}  // namespace

Result<Path> read_path(const Value& value) {
  const std::string text = TRY(value.string());
  const Path path = text;
  const bool plain = path.lexically_normal().native() == text && text.find('\0') == text.npos;
  if (path.is_absolute() && plain) return path.has_filename() ? path : path.parent_path();
  return value.wrong("expected an absolute path without \".\" and \"..\", got " + value.text());
}

Result<http::Address> read_address(const Value& value) {
  const std::string text = TRY(value.string());
  Result<http::Address> address = http::Address::parse(text);
  if (address) return address;
  return value.wrong(address.error().text());
}

Result<log::Level> read_level(const Value& value) {
  return read_word<log::Level>(value, {{"debug", log::Level::debug},
                                       {"info", log::Level::info},
                                       {"warning", log::Level::warning},
                                       {"error", log::Level::error}});
}

Result<EngineKind> read_engine(const Value& value) {
  return read_word<EngineKind>(value,
                               {{"opensm", EngineKind::opensm}, {"observe", EngineKind::observe}});
}

Result<LeaseEnd> read_lease_end(const Value& value) {
  return read_word<LeaseEnd>(value, {{"hold", LeaseEnd::hold}, {"revoke", LeaseEnd::revoke}});
}

Result<fabric::Partition> read_default_rule(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  fabric::Partition rule = fabric::default_partition();
  fabric::Membership others = fabric::Membership::limited;
  TRY(take(fields, "others", others, read_membership));
  if (others == fabric::Membership::both) return value.wrong("others: expected limited or full");
  TRY(take(fields, "ipoib", rule.ipoib, json::read_boolean));
  for (fabric::Member& member : rule.members)
    if (member.port.group() == fabric::PortGroup::all) member.membership = others;
  TRY(refuse_unknown(value, fields));
  return rule;
}

Result<std::map<std::string, Policy::NodeGuids>> read_nodes(const Value& value) {
  const auto members = TRY(value.members());
  std::map<std::string, Policy::NodeGuids> nodes;
  for (const auto& [name, member] : members) {
    nodes[name] = TRY(read_node(member));
  }
  return nodes;
}

Result<std::vector<PKeyRange>> read_pkey_ranges(const Value& value) {
  return json::read_list(value, read_pkey_range);
}

Result<std::vector<GuidRange>> read_guid_ranges(const Value& value) {
  return json::read_list(value, read_guid_range);
}

}  // namespace ibpod::sm
