// Judges the parts of a configuration that Config leaves as JSON, by those who read them.
#pragma once

#include "agent/config/config.h"

namespace ibpod::agent {

void check_sections(const config::Config& config, config::Findings& findings);

}  // namespace ibpod::agent
