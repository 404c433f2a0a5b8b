#include "sm/controller/engine_fault.h"

namespace ibpod::sm::controller {

using fabric::Reason;

fabric::Condition engine_fault(const engine::EngineStatus& status) {
  const auto because = [&](Reason reason) {
    return fabric::Condition{reason, "the subnet manager is " +
                                         std::string(engine::name(status.health)) +
                                         (status.trouble.empty() ? "" : ": " + status.trouble)};
  };
  switch (status.health) {
    case engine::Health::starting:
    case engine::Health::serving:
      return {};
    case engine::Health::gone:
    case engine::Health::not_master:
      return because(Reason::no_master);
    case engine::Health::other_file:
    case engine::Health::failed_open:
    case engine::Health::refused:
    case engine::Health::stuck:
      return because(Reason::misconfigured);
  }
  return {};
}

}  // namespace ibpod::sm::controller
