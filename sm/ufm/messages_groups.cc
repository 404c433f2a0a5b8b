#include "sm/ufm/document.h"
#include "sm/ufm/messages.h"
#include "sm/ufm/values.h"

#include <algorithm>
#include <charconv>

namespace ibpod::sm::ufm {
namespace {

using json::Value;

constexpr const char* kPhysical = "physical-port-guid";
constexpr const char* kVirtual = "virtual-port-guid";
constexpr const char* kProperties = "properties";
constexpr const char* kVportLids = "tenant_vport_lids";

// As UFM's manual has it: an integer.
Result<uint64_t> parse_id(std::string_view text) {
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc() && end == text.data() + text.size()) return id;
  return Error(Code::invalid, "expected the number of a group of GUIDs");
}

// A list that was not sent is empty.
Result<std::vector<ib::Guid>> read_list(const Value& group, const char* key) {
  std::vector<ib::Guid> guids;
  const std::optional<Value> list = group.find(key);
  if (!list) return guids;
  const std::vector<Value> elements = TRY(list->elements());
  for (const Value& element : elements) {
    const ib::Guid guid = TRY(read_guid(element));
    guids.push_back(guid);
  }
  std::sort(guids.begin(), guids.end());
  guids.erase(std::unique(guids.begin(), guids.end()), guids.end());
  return guids;
}

Result<GuidGroup> read_group(const std::string& key, const Value& value) {
  const auto id = parse_id(key);
  if (!id) return value.wrong(id.error().text());
  TRY(value.members());  // an object
  GuidGroup group{.id = *id};
  group.physical = TRY(read_list(value, kPhysical));
  group.virtual_guids = TRY(read_list(value, kVirtual));
  if (const auto properties = value.find(kProperties))
    if (const auto lids = properties->find(kVportLids)) group.vport_lids = TRY(read_flag(*lids));
  return group;
}

Result<std::vector<GuidGroup>> read_groups(std::string_view text) {
  const Value document = TRY(parse_document(text));
  const auto members = TRY(document.members());
  std::vector<GuidGroup> groups;
  for (const auto& [key, value] : members) {
    GuidGroup group = TRY(read_group(key, value));
    groups.push_back(std::move(group));
  }
  const auto by_id = [](const GuidGroup& a, const GuidGroup& b) { return a.id < b.id; };
  std::sort(groups.begin(), groups.end(), by_id);
  const auto same = [](const GuidGroup& a, const GuidGroup& b) { return a.id == b.id; };
  const auto twice = std::adjacent_find(groups.begin(), groups.end(), same);
  if (twice == groups.end()) return groups;
  return Error(Code::invalid, "the group " + std::to_string(twice->id) + " appears twice");
}

Result<uint64_t> read_group_id(std::string_view text) {
  const Value document = TRY(parse_document(text));
  if (document.is_string()) {
    const std::string word = TRY(document.string());
    return parse_id(word);
  }
  const int64_t number = TRY(document.integer(0, INT64_MAX));
  return static_cast<uint64_t>(number);
}

std::string with_prefix(ib::Guid guid) { return "0x" + guid_text(guid); }

}  // namespace

Result<std::vector<GuidGroup>> parse_guid_groups(std::string_view text) {
  return as_unavailable(read_groups(text));
}
Result<uint64_t> parse_group_id(std::string_view text) {
  return as_unavailable(read_group_id(text));
}

std::string write_guid_group(ib::Guid physical, const std::vector<ib::Guid>& vfs) {
  Value list = Value::array();
  for (const ib::Guid vf : vfs) list.push(with_prefix(vf));
  Value document = Value::object();
  document.set(kPhysical, Value::array().push(with_prefix(physical))).set(kVirtual, list);
  document.set(kProperties, Value::object().set(kVportLids, true));
  return document.text();
}

}  // namespace ibpod::sm::ufm
