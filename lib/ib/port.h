// The state of a port.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"

#include <cstdint>
#include <string_view>

namespace ibpod::ib {

// PortState of PortInfo (IBA 1.4, volume 1, 14.2.5.6), numbered as there and in sysfs.
enum class PortState { unknown = 0, down = 1, init = 2, armed = 3, active = 4, active_defer = 5 };
// DOWN, INIT, ARMED, ACTIVE …
std::string_view name(PortState state);

// A local identifier, assigned by the subnet manager; 0: none yet.
using Lid = uint16_t;

struct Port {
  PortState state = PortState::unknown;
  Lid lid = 0;
  Guid guid;  // of GID 0
  PKeyTable pkeys;
  bool operator==(const Port&) const = default;
};

}  // namespace ibpod::ib
