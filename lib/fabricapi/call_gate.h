// CallGate: admits a call if the service knows its caller, if it is for the fabric that the service
// serves, and if a place for it is free.
#pragma once

#include "lib/fabricapi/call_limiter.h"
#include "lib/fabricapi/service.h"

#include <memory>
#include <string>

namespace ibpod::fabricapi {

struct AdmittedCall {
  Caller caller;
  std::shared_ptr<CallLimiter::Slot> slot;
};

// From any thread.
class CallGate {
 public:
  CallGate(Identify identify, std::string fabric)
      : identify_(std::move(identify)), fabric_(std::move(fabric)) {}

  // `quota`: of the places; an administrator has the reserved one. An unknown caller is denied
  // before anything else is checked. not_found for another fabric; an empty one means "default"
  // (api/ibpod/v1/fabric.proto). unavailable without a place.
  Result<AdmittedCall> admit(const rpc::Peer& peer, const std::string& fabric, CallLimiter& limiter,
                             CallLimiter::Quota quota = CallLimiter::Quota::ordinary) const;

 private:
  const Identify identify_;
  const std::string fabric_;
};

}  // namespace ibpod::fabricapi
