#include "agent/device_watch.h"

namespace ibpod::agent {
namespace {

constexpr Duration kForever{3'600'000};

}  // namespace

void DeviceWatch::run() {
  while (true) {
    const Result<device_plugin::Woken> woken = watch_.wait(Deadline::in(kForever));
    // What cannot be waited for is what the agent lives by: it ends, and is started anew.
    if (!woken) return events_.tell({.stop = true, .failed = woken.error().text()});
    if (*woken == device_plugin::Woken::cancelled) return;
    if (*woken == device_plugin::Woken::deadline) continue;
    const bool due = *woken == device_plugin::Woken::due;
    events_.tell({.devices = !due, .changed = watch_.take_changed(), .due = due});
  }
}

}  // namespace ibpod::agent
