// Authentication of callers; unauthorized ones are in the audit log.
#pragma once

#include "lib/fabricapi/service.h"
#include "lib/rpc/holder.h"
#include "sm/api/authn.h"
#include "sm/telemetry/telemetry.h"

namespace ibpod::sm::service {

// As api::RoleRules::identify(). Both arguments outlive it.
fabricapi::Identify identify_and_audit(const api::RoleRules& authority,
                                       telemetry::Telemetry& telemetry);

// The account of a caller: account_of() if it has a role, else "unauthorized " and its name, which
// is never the account of a caller with a role. `authority` outlives it.
rpc::Account accounts(const api::RoleRules& authority);

}  // namespace ibpod::sm::service
