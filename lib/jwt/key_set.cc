#include "lib/jwt/key_set.h"

#include "lib/base/join.h"
#include "lib/jwt/refusal.h"

#include <algorithm>

namespace ibpod::jwt {
namespace {

using json::Value;

const Key* find_key(const std::vector<Key>& keys, std::string_view id) {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [id](const Key& key) { return key.id() == id; });
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace

Result<KeySet> KeySet::parse(std::string_view text) {
  if (text.size() > kLargest)
    return Error(Code::invalid, "the key set has " + std::to_string(text.size()) +
                                    " bytes: expected at most " + std::to_string(kLargest));
  const Value document = TRY(Value::parse(text));
  const Value list = TRY(document.at("keys"));
  const std::vector<Value> elements = TRY(list.elements());
  if (elements.size() > kMostKeys)
    return list.wrong("expected at most " + std::to_string(kMostKeys) + " keys, got " +
                      std::to_string(elements.size()));
  std::vector<Key> keys;
  for (const Value& element : elements) {
    std::optional<Key> key = TRY(Key::read(element));
    if (!key) continue;
    if (find_key(keys, key->id()) != nullptr)
      return element.wrong("two keys have the kid " + Value(key->id()).ascii());
    keys.push_back(*std::move(key));
  }
  if (keys.empty() && !elements.empty())
    return list.wrong("expected a key for RS256 or ES256, got none");
  return KeySet(std::move(keys));
}

bool KeySet::has(std::string_view id) const { return find_key(keys_, id) != nullptr; }

Status KeySet::verify(const Token& token) const {
  if (const Key* const key = find_key(keys_, token.key_id)) return key->verify(token);
  constexpr size_t kMostListed = 3;
  const std::string known =
      keys_.empty()
          ? "which has none"
          : join_first(kMostListed, keys_, [](const Key& key) { return Value(key.id()).ascii(); });
  return refusal("header kid: expected a key of the issuer, " + known + ", got " +
                 Value(token.key_id).ascii());
}

}  // namespace ibpod::jwt
