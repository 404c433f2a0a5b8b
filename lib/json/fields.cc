#include "lib/json/fields.h"

#include "lib/base/join.h"
#include "lib/base/nearest.h"

#include <algorithm>

#include <strings.h>

namespace ibpod::json {
namespace {

bool same_but_for_case(const std::string& a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Result<Fields> Fields::of(const Value& object) {
  std::vector<Member> members;
  const auto found = TRY(object.members());
  members.reserve(found.size());
  for (const auto& [key, value] : found) members.push_back({key, value});
  return Fields(std::move(members));
}

Result<std::optional<Value>> Fields::find(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  Member* taken = nullptr;
  for (Member& member : members_) {
    if (!same_but_for_case(member.key, key)) continue;
    if (taken != nullptr) {
      return member.value.wrong("the keys \"" + taken->key + "\" and \"" + member.key +
                                "\" differ only in case: keep \"" + std::string(key) + "\"");
    }
    taken = &member;
  }
  if (taken == nullptr) return std::optional<Value>();
  if (taken->key != key && !taken->asked)
    warnings_.push_back(taken->key + " is read as " + std::string(key));
  taken->asked = true;
  return taken->value.is_null() ? std::optional<Value>() : std::optional<Value>(taken->value);
}

Result<std::optional<std::string>> Fields::string(std::string_view key) {
  const std::optional<Value> value = TRY(find(key));
  if (!value) return std::optional<std::string>();
  std::string text = TRY(value->string());
  return std::optional<std::string>(std::move(text));
}

Result<std::optional<bool>> Fields::boolean(std::string_view key) {
  const std::optional<Value> value = TRY(find(key));
  if (!value) return std::optional<bool>();
  const bool boolean = TRY(value->boolean());
  return std::optional<bool>(boolean);
}

Result<std::optional<int64_t>> Fields::integer(std::string_view key, int64_t least, int64_t most) {
  const std::optional<Value> value = TRY(find(key));
  if (!value) return std::optional<int64_t>();
  const int64_t number = TRY(value->integer(least, most));
  return std::optional<int64_t>(number);
}

std::vector<std::string> Fields::unknown() const {
  std::vector<std::string> keys;
  for (const Member& member : members_) {
    if (!member.asked) keys.push_back(member.key);
  }
  return keys;
}

std::string Fields::meant_by(const std::string& key) const {
  return is_meant(key, {known_.begin(), known_.end()});
}

std::string Fields::sure_slip_of(const std::string& key) const {
  const std::string_view meant = sure_slip(key, {known_.begin(), known_.end()});
  return meant.empty() ? "" : "; did you mean \"" + std::string(meant) + "\"?";
}

std::string Fields::instead_of(const std::string& key) const {
  const std::string meant = meant_by(key);
  if (!meant.empty() || known_.empty()) return meant;
  return ", expected one of " + join(known_, ", ");
}

}  // namespace ibpod::json
