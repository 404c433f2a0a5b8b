// EventQueue: what has happened since the agent's thread looked last. Others tell, it waits.
#pragma once

#include "device-plugin/change_set.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/base/wake.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

namespace ibpod::agent {

struct PendingEvents {
  bool devices = false;  // something about devices, links or records may have changed:
  device_plugin::ChangeSet changes = {};
  bool poll_due = false;        // time to look at what has no event
  bool configuration = false;   // the file may have changed
  bool verdicts_ready = false;  // the verdicts of a sweep are known
  bool gc_done = false;         // a sweep has ended
  bool fabrics = false;         // how a fabric's SM service is reached, or what it says of ports
  bool stop = false;
  std::string error = {};  // why it has to; empty: it was asked to
};

class EventQueue {
 public:
  static Result<EventQueue> open();

  // From any thread. An event that is posted twice before wait() returns is reported once.
  void post(const PendingEvents& pending);
  // The events since the last call. Waits until there is one, until the descriptor `configuration`
  // is readable, or until `timeout` has passed: then `changes.ports` is set. `stop` stays set.
  PendingEvents wait(int configuration, Deadline timeout);
  // Returns at `end`, or when `stop` is posted. Other events are kept for the next wait().
  void sleep_until(Deadline end);

 private:
  explicit EventQueue(Wake wake) : wake_(std::move(wake)) {}

  struct Monitor {
    std::mutex mutex;
    std::condition_variable stopped;
  };
  Wake wake_;
  std::unique_ptr<Monitor> monitor_ = std::make_unique<Monitor>();
  PendingEvents pending_;
};

}  // namespace ibpod::agent
