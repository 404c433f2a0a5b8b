// RoleRules: authentication: the caller's role and name by its connection.
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
  // The first rule that matches one of a certificate's names decides. invalid for a node rule
  // without `*`, an administrator rule that matches any certificate, and a duplicate rule. Without
  // rules only the unix socket gives a role.
  static Result<RoleRules> make(std::vector<RoleRule> rules);

  // The unix socket is the administrator's. denied, with the certificate's names, if no rule
  // matches, if the node name is invalid, if the deciding rule matches two node names, or if a name
  // has more than 2,048 bytes. The error is short enough for the log, whatever the certificate.
  Result<fabricapi::Caller> identify(const rpc::Peer& peer) const;

 private:
  explicit RoleRules(std::vector<RoleRule> rules) : rules_(std::move(rules)) {}
  std::vector<RoleRule> rules_;
};

// [{"match": "CN=system:node:*", "role": "node"}, {"match": "CN=ibpod-admin", "role":
// "administrator"}]. Errors have the path of the wrong value.
Result<RoleRules> read_role_rules(const json::Value& value);

}  // namespace ibpod::sm::api
