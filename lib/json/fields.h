// Fields: reads a JSON object of a configuration and reports the keys that no reader asked for.
#pragma once

#include "lib/json/value.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::json {

// A key is matched exactly first. A key that differs only in case is accepted with a warning, as
// the Go plugins of these configurations accept it (ignoring "rdmaisolation" would lose isolation);
// two spellings in one object are refused.
class Fields {
 public:
  // invalid if `object` is not an object.
  static Result<Fields> of(const Value& object);

  // Nothing if the key is missing or null.
  Result<std::optional<Value>> find(std::string_view key);
  Result<std::optional<std::string>> string(std::string_view key);
  Result<std::optional<bool>> boolean(std::string_view key);
  Result<std::optional<int64_t>> integer(std::string_view key, int64_t least, int64_t most);

  // A warning for each key that was accepted in another spelling: "rdmaisolation is read as
  // rdmaIsolation".
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The keys that no call above asked for.
  std::vector<std::string> unknown() const;
  // The hint for an unknown key, after all others were asked for: "; did you mean "listen"?", or
  // the list of them: ", expected one of fabric, stateDir".
  std::string instead_of(const std::string& key) const;
  // "; did you mean "listen"?", or empty if no known key is near.
  std::string meant_by(const std::string& key) const;
  // The same by sure_slip() (base/nearest.h).
  std::string sure_slip_of(const std::string& key) const;

 private:
  struct Member {
    std::string key;
    Value value;
    bool asked = false;
  };
  explicit Fields(std::vector<Member> members) : members_(std::move(members)) {}
  std::vector<Member> members_;
  std::vector<std::string> warnings_;
  std::vector<std::string> known_;
};

// Reads an optional key: the target keeps its value if the key is missing or null.
template <typename Target, typename Read>
Status take(Fields& fields, std::string_view key, Target& target, const Read& read) {
  const std::optional<Value> value = TRY(fields.find(key));
  if (!value) return ok();
  target = TRY(read(*value));
  return ok();
}

template <typename Item>
Result<std::vector<Item>> read_list(const Value& value, Result<Item> (*read)(const Value&)) {
  const std::vector<Value> elements = TRY(value.elements());
  std::vector<Item> items;
  for (const Value& element : elements) {
    Item item = TRY(read(element));
    items.push_back(std::move(item));
  }
  return items;
}

// invalid if the object has keys that no reader asked for; names all of them, with a hint for each.
inline Status refuse_unknown(const Value& object, const Fields& fields) {
  std::string text;
  for (const std::string& key : fields.unknown())
    text += (text.empty() ? "unknown key \"" : "; unknown key \"") + key + "\"" +
            fields.instead_of(key);
  return text.empty() ? ok() : Status(object.wrong(text));
}

}  // namespace ibpod::json
