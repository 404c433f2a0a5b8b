// Pattern: which names of a certificate a rule is for.
#pragma once

#include "lib/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::sm::auth {

// Of a name as rpc::Peer has it: "CN=ibpod-admin", "CN=system:node:*", "DNS=*.nodes.example",
// "URI=spiffe://lab/node/*". `*`, once at most, stands for one or more bytes of any kind; all
// others for themselves, large and small letters too.
class NamePattern {
 public:
  static Result<NamePattern> parse(std::string_view text);

  // What `*` stands for in `name`: empty where there is no `*`. Nothing where `name` does not
  // match.
  std::optional<std::string> match(std::string_view name) const;
  bool has_star() const { return star_; }
  // Nothing is asked of the name but its kind: "CN=*".
  bool matches_all() const;
  std::string text() const { return star_ ? before_ + "*" + after_ : before_; }

 private:
  std::string before_, after_;
  bool star_ = false;
};

}  // namespace ibpod::sm::auth
