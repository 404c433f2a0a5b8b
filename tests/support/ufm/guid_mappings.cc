#include "tests/support/ufm/guid_mappings.h"

#include "lib/json/value.h"
#include "tests/support/ufm/rest_text.h"

#include <algorithm>
#include <map>

namespace ibpod::fake_ufm {
namespace {

using json::Value;

constexpr const char* kPhysical = "physical-port-guid";
constexpr const char* kVirtual = "virtual-port-guid";
constexpr const char* kProperties = "properties";

// GUIDs with 0x. A list that was not sent is empty.
Result<std::vector<ib::Guid>> read_list(const Value& body, const char* key) {
  std::vector<ib::Guid> guids;
  const std::optional<Value> list = body.find(key);
  if (!list) return guids;
  const std::vector<Value> elements = TRY(list->elements());
  for (const Value& element : elements) {
    const std::string text = TRY(element.string());
    if (!text.starts_with("0x")) return element.wrong("expected a GUID with 0x");
    const ib::Guid guid = TRY(read_guid(text));
    guids.push_back(guid);
  }
  return guids;
}

Value show_list(const std::vector<ib::Guid>& guids) {
  RestSettings settings;
  settings.prefixes_guids = true;
  Value list = Value::array();
  for (const ib::Guid guid : guids) list.push(show(guid, settings));
  return list;
}

Value to_json(const GuidGroup& group) {
  Value shown = Value::object();
  shown.set(kPhysical, show_list(group.physical)).set(kVirtual, show_list(group.virtual_guids));
  const auto properties = Value::parse(group.properties);
  if (properties) shown.set(kProperties, *properties);
  return shown;
}

bool share_port(const GuidGroup& a, const GuidGroup& b) {
  return std::any_of(a.physical.begin(), a.physical.end(), [&](ib::Guid guid) {
    return std::find(b.physical.begin(), b.physical.end(), guid) != b.physical.end();
  });
}

}  // namespace

Outcome GuidMappings::apply(const Call& call, const Switches& switches) {
  Outcome outcome;
  const auto found = groups_.find(call.group_id);
  switch (call.operation) {
    case Operation::list_groups:
      outcome.groups = groups_;
      return outcome;
    case Operation::add_group:
      if (switches.port_in_one_group &&
          std::any_of(groups_.begin(), groups_.end(),
                      [&](const auto& entry) { return share_port(entry.second, call.group); }))
        return {.status = 400, .text = "a physical port is in another group already"};
      groups_[++last_] = call.group;
      outcome.group_id = last_;
      return outcome;
    case Operation::read_group:
      if (found == groups_.end()) return {.status = 404, .text = "Not Found"};
      outcome.groups.insert(*found);
      return outcome;
    case Operation::remove_group:
      if (found == groups_.end()) return {.status = 404, .text = "Not Found"};
      groups_.erase(found);
      return outcome;
    default:
      return {.status = 405, .text = "Method Not Allowed"};
  }
}

Result<GuidGroup> read_group(const std::string& body) {
  const Value given = TRY(Value::parse(body));
  GuidGroup group;
  group.physical = TRY(read_list(given, kPhysical));
  group.virtual_guids = TRY(read_list(given, kVirtual));
  const std::optional<Value> properties = given.find(kProperties);
  if (!properties) return group;
  if (!properties->is_object()) return properties->wrong("expected an object");
  group.properties = properties->text();
  return group;
}

std::string show_groups(const GuidGroups& groups) {
  Value all = Value::object();
  for (const auto& [id, group] : groups) all.set(std::to_string(id), to_json(group));
  return all.text();
}

std::string show_group(const GuidGroup& group) { return to_json(group).text(); }

}  // namespace ibpod::fake_ufm
