// Trials: a call of the plugin with a fault at one of its steps, and whether a DEL, or the pod's
// end and a GC without any DEL, leave the node as it was before (snapshot.h).
#pragma once

#include "tests/vm/pod_calls.h"
#include "tests/vm/snapshot.h"
#include "tests/vm/tracer.h"

#include <array>
#include <string>
#include <vector>

namespace ibpod::vm {

inline constexpr std::array<Fault, 3> kFaults{Fault::fail, Fault::kill, Fault::kill_after};

struct Scenario {
  std::string name;
  std::string configuration;  // a network's, for a VF of its own
};

enum class Recovery { by_del, by_gc };

struct Point {
  const Scenario* scenario = nullptr;
  std::string verb;  // ADD or DEL
  Injection injection;
  Recovery recovery = Recovery::by_del;
};

struct Count {
  size_t tried = 0, by_del = 0, by_gc = 0, failed = 0;
};

// The events of a trial, for the message when it fails.
struct Story {
  std::string text;
  void tell(const std::string& what, const Answer& answer);
};

class Trials {
 public:
  // `device_info`: a file that the plugin writes for each pod, or empty.
  Trials(const Pod& pod, const Plugin& plugin, ObservedPaths paths, Path device_info)
      : pod_(pod),
        plugin_(plugin),
        paths_(std::move(paths)),
        device_info_(std::move(device_info)) {}

  // The node as it is now is how each trial has to leave it.
  Status begin();
  // How many steps the verb has when nothing fails.
  Result<uint64_t> steps(const Scenario& scenario, const std::string& verb);
  // False where the call came to its end without coming to the step.
  Result<bool> attempt(const Point& point);

  const Count& count() const { return count_; }
  bool give_up() const;

 private:
  Result<std::string> inject(const Point& point, Answer& faulted, Story& story);
  std::string wrong_with(const Point& point, const Answer& faulted);
  Result<std::string> recover(const Point& point, Story& story);
  Result<bool> call_until_done(const Point& point, Story& story);
  std::string what_is_left();
  void note(const Point& point, const std::string& wrong, const Story& story);
  Status tidy_up(const Point& point);

  const Pod& pod_;
  const Plugin& plugin_;
  ObservedPaths paths_;
  Path device_info_;
  std::vector<std::string> before_;
  Count count_;
};

}  // namespace ibpod::vm
