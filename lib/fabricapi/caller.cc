#include "lib/fabricapi/caller.h"

namespace ibpod::fabricapi {

std::string_view name(Role role) {
  switch (role) {
    case Role::administrator:
      return "administrator";
    case Role::node:
      return "node";
    case Role::reader:
      return "reader";
  }
  return "?";
}

std::string account_of(const Caller& caller) {
  return caller.role == Role::node ? "node " + caller.node : caller.name;
}

}  // namespace ibpod::fabricapi
