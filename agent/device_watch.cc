#include "agent/device_watch.h"

namespace ibpod::agent {
namespace {

constexpr Duration kForever{3'600'000};

}  // namespace

void DeviceWatch::run() {
  while (true) {
    const Result<device_plugin::WakeReason> woken = watch_.wait(Deadline::in(kForever));
    // The agent cannot work without these events: it ends, and the kubelet starts it again.
    if (!woken) return events_.post({.stop = true, .error = woken.error().text()});
    if (*woken == device_plugin::WakeReason::cancelled) return;
    if (*woken == device_plugin::WakeReason::deadline) continue;
    const bool due = *woken == device_plugin::WakeReason::due;
    events_.post({.devices = !due, .changes = watch_.take_changes(), .poll_due = due});
  }
}

}  // namespace ibpod::agent
