// KeySource: the keys of an issuer, which change: those of a file (FollowedKeySet), or those that a
// server gives (FetchedKeySet).
#pragma once

#include "lib/jwt/key_set.h"

#include <memory>

namespace ibpod::jwt {

// From any thread.
class KeySource {
 public:
  KeySource() = default;
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;
  KeySource(KeySource&&) = delete;
  KeySource& operator=(KeySource&&) = delete;
  virtual ~KeySource() = default;

  // The keys that are in use, never null. unavailable if they are not known yet: a token cannot be
  // verified then. The text is for the token's bearer, so it does not say why.
  virtual Result<std::shared_ptr<const KeySet>> now() = 0;
  // A token names a key that now() does not have: the issuer may have newer ones. Returns at once.
  virtual void key_missing() = 0;
  // The fault because of which the keys are not in use as the issuer has them, or that it has none.
  virtual Status state() const = 0;
};

}  // namespace ibpod::jwt
