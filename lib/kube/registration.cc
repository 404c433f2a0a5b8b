#include "lib/kube/registration.h"

#include <string>

namespace ibpod::kube {

std::string_view name(Mode mode) {
  switch (mode) {
    case Mode::automatic:
      return "auto";
    case Mode::watcher:
      return "watcher";
    case Mode::legacy:
      return "legacy";
  }
  std::abort();
}

}  // namespace ibpod::kube
