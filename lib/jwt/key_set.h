// KeySet: the public keys of a token issuer (a JSON Web Key Set, RFC 7517).
#pragma once

#include "lib/jwt/key.h"

#include <string_view>
#include <vector>

namespace ibpod::jwt {

class KeySet {
 public:
  static constexpr size_t kLargest = 1 << 20;  // bytes
  static constexpr size_t kMostKeys = 100;

  // {"keys": [{"kty": "RSA", "kid": …, "n": …, "e": …}]}. Keys that can sign no token of an
  // Algorithm are left out. An empty list is a set that verifies nothing. invalid if no key of a
  // list is left, if there are too many, if two have one `kid`, and as Key::read().
  static Result<KeySet> parse(std::string_view text);

  // ok if the key that the token names is one of these and has signed it. denied otherwise.
  Status verify(const Token& token) const;
  bool has(std::string_view id) const;
  const std::vector<Key>& keys() const { return keys_; }

 private:
  explicit KeySet(std::vector<Key> keys) : keys_(std::move(keys)) {}
  std::vector<Key> keys_;
};

}  // namespace ibpod::jwt
