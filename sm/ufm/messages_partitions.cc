#include "sm/ufm/document.h"
#include "sm/ufm/messages.h"
#include "sm/ufm/values.h"

#include <algorithm>
#include <utility>

namespace ibpod::sm::ufm {
namespace {

using json::Value;

Result<UfmMember> read_member(const Value& value) {
  UfmMember member;
  if (value.is_string()) {
    member.guid = TRY(read_guid(value));
    return member;
  }
  const Value guid = TRY(value.at("guid"));
  member.guid = TRY(read_guid(guid));
  if (const auto membership = value.find("membership"))
    member.membership = TRY(read_membership(*membership));
  if (const auto index0 = value.find("index0")) member.index0 = TRY(read_flag(*index0));
  return member;
}

// By GUID. If one appears twice, it keeps the values that both have: the others are unknown.
std::vector<UfmMember> merge(std::vector<UfmMember> members) {
  const auto by_guid = [](const UfmMember& a, const UfmMember& b) { return a.guid < b.guid; };
  std::stable_sort(members.begin(), members.end(), by_guid);
  std::vector<UfmMember> merged;
  for (const UfmMember& member : members) {
    if (merged.empty() || merged.back().guid != member.guid) {
      merged.push_back(member);
      continue;
    }
    UfmMember& known = merged.back();
    if (known.membership != member.membership) known.membership.reset();
    if (known.index0 != member.index0) known.index0.reset();
  }
  return merged;
}

Result<std::vector<UfmMember>> read_members(const Value& value) {
  const std::vector<Value> elements = TRY(value.elements());
  std::vector<UfmMember> members;
  for (const Value& element : elements) {
    const UfmMember member = TRY(read_member(element));
    members.push_back(member);
  }
  return merge(std::move(members));
}

Result<ListedPartition> read_entry(ib::PKey pkey, const Value& value) {
  TRY(value.members());  // an object
  ListedPartition entry{.partition = {.pkey = pkey}};
  if (const auto name = value.find("partition")) entry.partition.name = TRY(read_name(*name));
  if (const auto flag = value.find("ip_over_ib"))
    entry.partition.ip_over_ib = TRY(read_flag(*flag));
  const auto members = value.find("guids");
  if (members) entry.partition.members = TRY(read_members(*members));
  entry.has_members = members.has_value();
  return entry;
}

// An element of a list: the P_Key alone, or an object that names it.
Result<ListedPartition> read_element(const Value& value) {
  const bool is_alone = value.is_string();
  const Value named = TRY(is_alone ? Result(value) : value.at("pkey"));
  const ib::PKey pkey = TRY(read_pkey(named));
  if (is_alone) return ListedPartition{.partition = {.pkey = pkey}};
  return read_entry(pkey, value);
}

Result<ListedPartition> read_keyed(const std::string& key, const Value& value) {
  const auto pkey = parse_pkey(key);
  if (!pkey) return value.wrong(pkey.error().text());
  return read_entry(*pkey, value);
}

Result<std::vector<ListedPartition>> read_list(const Value& document) {
  const std::vector<Value> elements = TRY(document.elements());
  std::vector<ListedPartition> list;
  for (const Value& element : elements) {
    ListedPartition entry = TRY(read_element(element));
    list.push_back(std::move(entry));
  }
  return list;
}

Result<std::vector<ListedPartition>> read_object(const Value& document) {
  const auto members = TRY(document.members());
  std::vector<ListedPartition> list;
  for (const auto& [key, value] : members) {
    ListedPartition entry = TRY(read_keyed(key, value));
    list.push_back(std::move(entry));
  }
  return list;
}

ib::PKey pkey_of(const ListedPartition& entry) { return entry.partition.pkey; }

Result<std::vector<ListedPartition>> read_partitions(std::string_view text) {
  const Value document = TRY(parse_document(text));
  std::vector<ListedPartition> list =
      TRY(document.is_array() ? read_list(document) : read_object(document));
  std::sort(list.begin(), list.end(),
            [](const auto& a, const auto& b) { return pkey_of(a) < pkey_of(b); });
  const auto twice = std::adjacent_find(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return pkey_of(a) == pkey_of(b);
  });
  if (twice == list.end()) return list;
  return Error(Code::invalid, "the P_Key " + pkey_of(*twice).text() + " appears twice");
}

// The entry itself, or a list of partitions with this one only.
Result<ListedPartition> read_single(std::string_view text, const Value& document, ib::PKey pkey) {
  if (document.find("guids") || document.find("partition")) {
    const auto named = document.find("pkey");
    const ib::PKey found = TRY(named ? read_pkey(*named) : Result(pkey));
    return read_entry(found, document);
  }
  std::vector<ListedPartition> list = TRY(read_partitions(text));
  if (list.size() == 1) return std::move(list.front());
  return Error(Code::invalid, "expected one partition, got " + std::to_string(list.size()));
}

Result<std::optional<UfmPartition>> read_partition(std::string_view text, ib::PKey pkey) {
  const Value document = TRY(parse_document(text));
  if (document.is_object() && document.text() == "{}") return std::optional<UfmPartition>();
  ListedPartition entry = TRY(read_single(text, document, pkey));
  if (pkey_of(entry) != pkey)
    return Error(Code::invalid,
                 "expected the P_Key " + pkey.text() + ", got " + pkey_of(entry).text());
  if (!entry.has_members) return Error(Code::invalid, "the key \"guids\" is missing");
  return std::optional(std::move(entry.partition));
}

}  // namespace

Result<std::vector<ListedPartition>> parse_partitions(std::string_view text) {
  return as_unavailable(read_partitions(text));
}

Result<std::optional<UfmPartition>> parse_partition(std::string_view text, ib::PKey pkey) {
  return as_unavailable(read_partition(text, pkey));
}

}  // namespace ibpod::sm::ufm
