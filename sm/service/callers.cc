#include "sm/service/callers.h"

#include "lib/fabricapi/account.h"

namespace ibpod::sm {

fabricapi::Identify audited(const Authority& authority, Report& report) {
  return [&authority, &report](const rpc::Peer& peer) {
    Result<fabricapi::Caller> caller = authority.identify(peer);
    if (!caller) report.stranger(caller.error());
    return caller;
  };
}

rpc::Account accounts(const Authority& authority) {
  return [&authority](const rpc::Peer& peer) {
    const Result<fabricapi::Caller> caller = authority.identify(peer);
    return caller ? account_of(*caller) : "stranger " + rpc::holder_of(peer);
  };
}

}  // namespace ibpod::sm
