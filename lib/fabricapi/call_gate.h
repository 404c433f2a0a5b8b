// Admission: who comes in: somebody whom the service knows, who means the fabric that it serves, as
// long as there is a place for what he asks.
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

  // `share`: of the places; an administrator has the reserved one. Whom nobody knows is denied,
  // before anything else is looked at. not_found for another fabric; an empty one means "default"
  // (api/ibpod/v1/fabric.proto). unavailable without a place.
  Result<AdmittedCall> admit(const rpc::Peer& peer, const std::string& fabric, CallLimiter& limiter,
                             CallLimiter::Quota quota = CallLimiter::Quota::ordinary) const;

 private:
  const Identify identify_;
  const std::string fabric_;
};

}  // namespace ibpod::fabricapi
