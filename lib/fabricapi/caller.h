// Caller: who asks, as the connection proves it; never as a message says.
#pragma once

#include <string>
#include <string_view>

namespace ibpod::fabricapi {

// administrator: everything. node: what is its own. reader: looks and changes nothing.
enum class Role { administrator, node, reader };
std::string_view name(Role role);

struct Caller {
  Role role = Role::reader;
  std::string node;  // of the role node: its name
  std::string name;  // for the audit log: the certificate's name, or "unix socket"
  bool operator==(const Caller&) const = default;
};

// The account under which a caller uses the service's limits. A node has one, whatever its
// certificates call it; others have one for each name by which they have their role.
std::string account_of(const Caller& caller);

}  // namespace ibpod::fabricapi
