#include "lib/fabricapi/account.h"

namespace ibpod::fabricapi {

std::string account_of(const Caller& caller) {
  return caller.role == Role::node ? "node " + caller.node : caller.name;
}

}  // namespace ibpod::fabricapi
