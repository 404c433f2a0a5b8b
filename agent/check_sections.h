// Judges the parts of a configuration that Config leaves as JSON, by those who read them.
#pragma once

#include "agent/config/config.h"

namespace ibpod::agent {

void judge_sections(const Config& config, Findings& findings);

}  // namespace ibpod::agent
