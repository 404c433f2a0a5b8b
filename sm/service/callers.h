// Whom ibpod-sm takes a caller for, with those whom it takes for nobody in the audit log.
#pragma once

#include "lib/fabricapi/service.h"
#include "sm/authority/authority.h"
#include "sm/report/report.h"

namespace ibpod::sm {

// As Authority::identify(). Both outlive it.
fabricapi::Identify audited(const Authority& authority, Report& report);

}  // namespace ibpod::sm
