#include "sm/controller/engine_fault.h"

namespace ibpod::sm::controller {

using fabric::Reason;

fabric::Condition engine_fault(const opensm::EngineStatus& status) {
  const auto because = [&](Reason reason) {
    return fabric::Condition{reason, "the subnet manager is " +
                                         std::string(opensm::name(status.health)) +
                                         (status.trouble.empty() ? "" : ": " + status.trouble)};
  };
  switch (status.health) {
    case opensm::Health::starting:
    case opensm::Health::serving:
      return {};
    case opensm::Health::gone:
    case opensm::Health::not_master:
      return because(Reason::no_master);
    case opensm::Health::other_file:
    case opensm::Health::failed_open:
    case opensm::Health::refused:
    case opensm::Health::stuck:
      return because(Reason::misconfigured);
  }
  return {};
}

}  // namespace ibpod::sm::controller
