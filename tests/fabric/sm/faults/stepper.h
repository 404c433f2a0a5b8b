// Stepper: ends a process at one of its steps (steps/steps.h), which the test chooses while it
// runs.
#pragma once

#include "lib/base/files.h"
#include "tests/fabric/sm/faults/steps/steps.h"

#include <map>
#include <string>

namespace ibpod {

class Stepper {
 public:
  // `file` is shared with the process; what is below `folder` counts.
  Stepper(const Path& file, const Path& folder);
  ~Stepper();
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;
  Stepper(Stepper&&) = delete;
  Stepper& operator=(Stepper&&) = delete;

  // The environment for the process; its LD_PRELOAD goes before the one that the process has
  // otherwise.
  const std::map<std::string, std::string>& environment() const { return environment_; }

  // From now on it takes so many steps, and no more; of a write that is the last one half is done
  // if it is `torn`.
  void arm(int64_t steps, bool torn = false);
  // From now on nothing ends it. How many it has taken since arm().
  int64_t disarm();
  // It has come to the last one.
  bool ended() const { return steps_->last.front() != '\0'; }
  std::string last() const { return steps_->last.data(); }

 private:
  std::map<std::string, std::string> environment_;
  Steps* steps_ = nullptr;
};

}  // namespace ibpod
