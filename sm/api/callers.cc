#include "sm/api/callers.h"

#include <utility>

namespace ibpod::sm::api {

using fabricapi::Caller;

Identify authenticator(const RoleRules& rules, std::function<void(const Error&)> on_unauthorized) {
  return [&rules, on_unauthorized = std::move(on_unauthorized)](const rpc::Peer& peer) {
    Result<Caller> caller = rules.identify(peer);
    if (!caller) on_unauthorized(caller.error());
    return caller;
  };
}

rpc::Account accounts(const RoleRules& rules) {
  return [&rules](const rpc::Peer& peer) {
    const Result<Caller> caller = rules.identify(peer);
    return caller ? account_of(*caller) : "unauthorized " + rpc::holder_of(peer);
  };
}

}  // namespace ibpod::sm::api
