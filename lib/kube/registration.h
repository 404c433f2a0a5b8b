// How a resource is made known to the kubelet, and how that went.
#pragma once

#include "lib/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ibpod::kube {

enum class Mode {
  automatic,  // watcher where the kubelet has a folder plugins_registry, else legacy
  watcher,    // the kubelet finds the socket in plugins_registry and asks
  legacy,     // the socket is in device-plugins, and we call Register on kubelet.sock
};

std::string_view name(Mode mode);

struct Registration {
  // The kubelet has accepted the resource and listens to its devices now.
  bool registered = false;
  // When `registered` last became what it is.
  std::chrono::system_clock::time_point since;
  // How often the socket has been made and offered.
  uint64_t attempts = 0;
  // The one that is used now: watcher or legacy.
  Mode mode = Mode::automatic;
  // Why it was last refused or lost. Stays when it is registered again.
  std::optional<Error> last_error = {};
};

}  // namespace ibpod::kube
