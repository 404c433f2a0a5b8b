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

Result<Mode> parse_mode(std::string_view text) {
  for (const Mode mode : {Mode::automatic, Mode::watcher, Mode::legacy}) {
    if (text == name(mode)) return mode;
  }
  return Error(Code::invalid, "\"" + std::string(text) + "\" is none of auto, watcher, legacy");
}

}  // namespace ibpod::kube
