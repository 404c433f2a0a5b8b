// Findings of other programs for `doctor`: the node's agent, and the cluster's SM service.
#pragma once

#include "ctl/doctor.h"
#include "ctl/session.h"

namespace ibpod::ctl {

// Each adds what it finds; one that does not answer is a finding, too.
void ask_agent(const Session& session, std::vector<Finding>& findings);
void ask_service(const Session& session, std::vector<Finding>& findings);

}  // namespace ibpod::ctl
