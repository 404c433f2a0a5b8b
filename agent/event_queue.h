// Events: what has happened since the agent's thread looked last. Others tell, it waits.
#pragma once

#include "device-plugin/change_set.h"
#include "lib/base/clock.h"
#include "lib/base/result.h"
#include "lib/base/wake.h"

#include <memory>
#include <mutex>
#include <string>

namespace ibpod::agent {

struct Happened {
  bool devices = false;  // something about devices, links or records may have changed:
  device_plugin::Changed changed = {};
  bool due = false;            // time to look at what has no event
  bool configuration = false;  // the file may have changed
  bool judged = false;         // the verdicts of a sweep are known
  bool swept = false;          // a sweep has ended
  bool fabrics = false;        // how a fabric's SM service is reached, or what it says of ports
  bool stop = false;
  std::string failed = {};  // why it has to; empty: it was asked to
};

class Events {
 public:
  static Result<Events> open();

  // From any thread. What is told twice before it is heard is told once.
  void tell(const Happened& happened);
  // What was told since the last call; waits for something, until `configuration`, a descriptor, is
  // readable, or until `patience` is at its end: then it is time to look at ports. `stop` stays
  // told.
  Happened wait(int configuration, Deadline patience);
  // Returns at `end`, or when `stop` is told. What else is told meanwhile is for the next wait().
  void rest(Deadline end);

 private:
  explicit Events(Wake wake) : wake_(std::move(wake)) {}
  bool stops() const;
  Wake wake_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
  Happened pending_;
};

}  // namespace ibpod::agent
