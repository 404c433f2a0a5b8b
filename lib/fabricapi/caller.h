// Caller: the caller of a request as its connection or its token proves it, never as a message
// claims.
#pragma once

#include <string>
#include <string_view>

namespace ibpod::fabricapi {

// administrator: all calls. node: calls about itself. reader: calls that change nothing.
enum class Role { administrator, node, reader };
std::string_view name(Role role);

struct Caller {
  Role role = Role::reader;
  std::string node;  // its name if the role is node
  // For the audit log: the certificate's name, the service account, or "unix socket".
  std::string name;
  std::string cluster = {};  // that issued its token; empty: it has none
  bool operator==(const Caller&) const = default;
};

// The caller's account for the service's limits. A node has one, whatever proves its name; others
// have one for each name that gives them their role.
std::string account_of(const Caller& caller);

}  // namespace ibpod::fabricapi
