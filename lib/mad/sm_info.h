// The state of a subnet manager: SMInfo (IBA 1.4, volume 1, 14.2.5.13). Read-only.
#pragma once

#include "lib/ib/guid.h"
#include "lib/mad/smp.h"

#include <cstdint>

namespace ibpod::mad {

enum class SmState : uint8_t { not_active = 0, discovering = 1, standby = 2, master = 3 };

// Without its SM_Key, a secret that is shown to other subnet managers only.
struct SmInfo {
  ib::Guid guid;          // of its port
  uint32_t activity = 0;  // grows with all that it sends; OpenSM counts packets, modulo 2^32
  uint8_t priority = 0;   // 0 to 15; the highest is master, of equals the lowest GUID
  SmState state = SmState::not_active;
  bool operator==(const SmInfo&) const = default;
};

// invalid: a state that there is not.
Result<SmInfo> parse_sm_info(const Data& data);
Data encode(const SmInfo& info);

}  // namespace ibpod::mad
