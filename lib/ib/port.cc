#include "lib/ib/port.h"

namespace ibpod::ib {

std::string_view name(PortState state) {
  switch (state) {
    case PortState::unknown:
      return "unknown";
    case PortState::down:
      return "DOWN";
    case PortState::init:
      return "INIT";
    case PortState::armed:
      return "ARMED";
    case PortState::active:
      return "ACTIVE";
    case PortState::active_defer:
      return "ACTIVE_DEFER";
  }
  return "unknown";
}

}  // namespace ibpod::ib
