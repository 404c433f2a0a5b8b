// Whom ibpod-sm takes a caller for, with those whom it takes for nobody in the audit log.
#pragma once

#include "lib/fabricapi/service.h"
#include "lib/rpc/holder.h"
#include "sm/auth/authn.h"
#include "sm/telemetry/telemetry.h"

namespace ibpod::sm::service {

// As Authority::identify(). Both outlive it.
fabricapi::Identify identify_and_audit(const auth::RoleRules& authority,
                                       telemetry::Telemetry& telemetry);

// The account of whoever has a role, as account_of() has it; of others "stranger " and their name,
// which is never anybody else's. It outlives it.
rpc::Account accounts(const auth::RoleRules& authority);

}  // namespace ibpod::sm::service
