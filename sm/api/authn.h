// RoleRules: whom ibpod-sm takes a caller for. It goes by what the connection proves.
#pragma once

#include "lib/fabricapi/caller.h"
#include "lib/json/value.h"
#include "lib/rpc/peer.h"
#include "sm/api/pattern.h"

#include <string>
#include <vector>

namespace ibpod::sm::api {

// A certificate with a matching name gives this role. For the role node, `*` matches the node's
// name in Kubernetes.
struct RoleRule {
  NamePattern match;
  fabricapi::Role role = fabricapi::Role::reader;
};

class RoleRules {
 public:
  // The first rule that one of a certificate's names matches decides. invalid for a rule of nodes
  // without `*`, for one of administrators that any certificate matches, and for one that comes
  // twice. Without rules only the unix socket leads to anything.
  static Result<RoleRules> make(std::vector<RoleRule> rules);

  // The unix socket is the administrator's. denied, with the certificate's names, where no rule
  // matches, where the name of a node cannot be one, and where the rule that decides finds the
  // names of two nodes in one certificate, or one of more than 2,048 bytes. A refusal is short
  // enough to be logged, whatever is in the certificate.
  Result<fabricapi::Caller> identify(const rpc::Peer& peer) const;

 private:
  explicit RoleRules(std::vector<RoleRule> rules) : rules_(std::move(rules)) {}
  std::vector<RoleRule> rules_;
};

// [{"match": "CN=system:node:*", "role": "node"}, {"match": "CN=ibpod-admin", "role":
// "administrator"}]. Errors name the path of what is wrong.
Result<RoleRules> read_role_rules(const json::Value& value);

}  // namespace ibpod::sm::api
