#include "sm/service/callers.h"

namespace ibpod::sm {

fabricapi::Identify audited(const Authority& authority, Report& report) {
  return [&authority, &report](const rpc::Peer& peer) {
    Result<fabricapi::Caller> caller = authority.identify(peer);
    if (!caller) report.stranger(caller.error());
    return caller;
  };
}

}  // namespace ibpod::sm
