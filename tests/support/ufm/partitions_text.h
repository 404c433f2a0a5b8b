// The partitions of a UFM as a partitions.conf for OpenSM. It shares no code with lib/fabric, which
// writes that of ibpod-sm.
#pragma once

#include "tests/support/ufm/state.h"

#include <string>

namespace ibpod::fake_ufm {

// All ports are in the default partition with `default_membership`, and OpenSM's own is a full
// member. Quality of service is not in it: UFM applies that at its start only.
std::string partitions_text(const Partitions& partitions, ib::Membership default_membership);

}  // namespace ibpod::fake_ufm
