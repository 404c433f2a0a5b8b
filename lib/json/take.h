// Reads the keys of an object, one a line, each into its place:
//   TRY(take(fields, "pkey", partition.pkey, read_pkey));
#pragma once

#include "lib/json/fields.h"

#include <string_view>
#include <vector>

namespace ibpod::json {

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

inline Result<bool> read_boolean(const Value& value) { return value.boolean(); }
inline Result<std::string> read_string(const Value& value) { return value.string(); }

// invalid if the object has keys that no reader asked for; names all of them, with a hint for each.
inline Status refuse_unknown(const Value& object, const Fields& fields) {
  std::string text;
  for (const std::string& key : fields.unknown())
    text += (text.empty() ? "unknown key \"" : "; unknown key \"") + key + "\"" +
            fields.instead_of(key);
  return text.empty() ? ok() : Status(object.wrong(text));
}

}  // namespace ibpod::json
