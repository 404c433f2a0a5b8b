// The rules by which a UFM changes its partitions.
#pragma once

#include "tests/support/ufm/call.h"

namespace ibpod::fake_ufm {

// Does what is asked for. `known`: the GUIDs of ports that UFM has seen. After an error the
// partitions are unchanged, except without Switches::atomic.
Outcome apply(const Call& call, const Switches& switches, const std::set<ib::Guid>& known,
              Partitions& partitions);

}  // namespace ibpod::fake_ufm
