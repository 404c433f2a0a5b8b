#include "sm/engine/subnet_manager.h"

namespace ibpod::sm::engine {

std::string_view name(Health health) {
  switch (health) {
    case Health::starting:
      return "starting";
    case Health::serving:
      return "serving";
    case Health::gone:
      return "gone";
    case Health::not_master:
      return "not_master";
    case Health::other_file:
      return "other_file";
    case Health::failed_open:
      return "failed_open";
    case Health::refused:
      return "refused";
    case Health::stuck:
      return "stuck";
  }
  return "starting";
}

}  // namespace ibpod::sm::engine
