// Switches and RestSettings as JSON objects, whose keys are the names of the members.
#pragma once

#include "lib/json/value.h"
#include "tests/support/ufm/rest_settings.h"
#include "tests/support/ufm/state.h"

namespace ibpod::fake_ufm {

// Reads what the object has; the rest keeps its value. invalid for an unknown key.
Status update(Switches& switches, const json::Value& object);
Status update(RestSettings& settings, const json::Value& object);

json::Value to_json(const Switches& switches);
json::Value to_json(const RestSettings& settings);

Result<ib::Membership> read_membership(const json::Value& value);

}  // namespace ibpod::fake_ufm
