#include "tests/support/ufm/guid_mappings.h"

#include "lib/json/value.h"
#include "tests/support/ufm/rest_text.h"

namespace ibpod::fake_ufm {
namespace {

using json::Value;

// GUIDs with 0x.
Status check_guids(const Value& body, const char* key) {
  const std::optional<Value> list = body.find(key);
  if (!list) return ok();
  const std::vector<Value> guids = TRY(list->elements());
  for (const Value& guid : guids) {
    const std::string text = TRY(guid.string());
    if (!text.starts_with("0x")) return guid.wrong("expected a GUID with 0x");
    TRY(read_guid(text));
  }
  return ok();
}

}  // namespace

Result<int> GuidMappings::add(const std::string& body) {
  const Value given = TRY(Value::parse(body));
  Value group = Value::object();
  for (const char* key : {"physical-port-guid", "virtual-port-guid"}) {
    TRY(check_guids(given, key));
    group.set(key, given.find(key).value_or(Value::array()));
  }
  if (const auto properties = given.find("properties")) group.set("properties", *properties);
  const std::lock_guard lock(mutex_);
  groups_[std::to_string(++last_)] = group.text();
  return last_;
}

std::string GuidMappings::show_all() const {
  const std::lock_guard lock(mutex_);
  std::string members;
  for (const auto& [id, group] : groups_)
    members.append(members.empty() ? "\"" : ",\"").append(id).append("\":").append(group);
  return "{" + members + "}";
}

std::optional<std::string> GuidMappings::show(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(id);
  return found == groups_.end() ? std::nullopt : std::optional(found->second);
}

bool GuidMappings::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return groups_.erase(id) > 0;
}

}  // namespace ibpod::fake_ufm
