// NamePattern: the certificate names that a rule matches.
#pragma once

#include "lib/base/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::sm::api {

// A pattern of names as in rpc::Peer: "CN=ibpod-admin", "CN=system:node:*", "DNS=*.nodes.example",
// "URI=spiffe://lab/node/*". At most one `*`: it matches one or more bytes of any value. All other
// bytes match themselves, case-sensitively.
class NamePattern {
 public:
  static Result<NamePattern> parse(std::string_view text);

  // The part of `name` that `*` matches; empty if the pattern has no `*`; nullopt if `name` does
  // not match.
  std::optional<std::string> match(std::string_view name) const;
  bool has_star() const { return star_; }
  // True for a pattern that matches every name of its kind: "CN=*".
  bool matches_all() const;
  std::string text() const { return star_ ? before_ + "*" + after_ : before_; }

 private:
  std::string before_, after_;
  bool star_ = false;
};

}  // namespace ibpod::sm::api
