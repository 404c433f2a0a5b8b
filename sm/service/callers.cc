#include "sm/service/callers.h"

#include "lib/fabricapi/account.h"

namespace ibpod::sm::service {

fabricapi::Identify identify_and_audit(const api::RoleRules& authority,
                                       telemetry::Telemetry& telemetry) {
  return [&authority, &telemetry](const rpc::Peer& peer) {
    Result<fabricapi::Caller> caller = authority.identify(peer);
    if (!caller) telemetry.unauthorized(caller.error());
    return caller;
  };
}

rpc::Account accounts(const api::RoleRules& authority) {
  return [&authority](const rpc::Peer& peer) {
    const Result<fabricapi::Caller> caller = authority.identify(peer);
    return caller ? account_of(*caller) : "unauthorized " + rpc::holder_of(peer);
  };
}

}  // namespace ibpod::sm::service
