#include "lib/fabricapi/call_gate.h"

#include "lib/fabricapi/account.h"
#include "lib/fabricapi/fields.h"

namespace ibpod::fabricapi {

Result<AdmittedCall> CallGate::admit(const rpc::Peer& peer, const std::string& fabric,
                                     CallLimiter& limiter, CallLimiter::Quota quota) const {
  AdmittedCall admitted;
  admitted.caller = TRY(identify_(peer));
  const std::string meant = fabric.empty() ? "default" : fabric;
  if (meant != fabric_)
    return Error(Code::not_found,
                 wrong("fabric", meant, "\"" + fabric_ + "\", the fabric of this service").text());
  if (admitted.caller.role == Role::administrator) quota = CallLimiter::Quota::reserved;
  admitted.slot = TRY(limiter.take(account_of(admitted.caller), quota));
  return admitted;
}

}  // namespace ibpod::fabricapi
