// own_caller(): the caller of ibpod-sm's own changes.
#pragma once

#include "lib/fabricapi/caller.h"

#include <string>

namespace ibpod::sm::controller {

// It has all permissions. `name`: for the audit log.
inline fabricapi::Caller own_caller(const std::string& name = "ibpod-sm") {
  return {.role = fabricapi::Role::administrator, .node = {}, .name = name};
}

}  // namespace ibpod::sm::controller
