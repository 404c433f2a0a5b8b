// BootIdTracker: identifies the machine that has a node's name by its boot ID. Two machines with
// one name and certificate (a cloned image, two clusters on one subnet) would release each other's
// bindings.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace ibpod::sm::state {

class BootIdTracker {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  enum class Relation {
    same,       // the known machine, the first one, or one after a silent one
    another,    // the known machine may be alive, or this may be it after a reboot
    intruding,  // the known machine is alive: it has called since
  };

  BootIdTracker() = default;
  // From the store; `loaded` is used as the time of the last contact.
  BootIdTracker(std::string boot, Steady loaded) : boot_(std::move(boot)), last_contact_(loaded) {}

  struct Limits {
    Steady::duration silence;  // time without a Sync after which another boot ID is accepted
    Steady::duration lease;    // the same if both machines were alive at once
  };
  // Records a Sync with this boot ID.
  Relation note(const std::string& boot, Steady now, const Limits& limits);
  // The boot ID of the known machine; empty: none.
  const std::string& boot() const { return boot_; }
  // The remaining silence before `another` becomes `same`.
  Steady::duration silence_left(Steady now, const Limits& limits) const;
  // True if a second machine is alive.
  bool has_duplicate(Steady now, const Limits& limits) const;

 private:
  std::string boot_;
  Steady last_contact_;
  std::string other_;
  Steady other_last_contact_;
  bool both_alive_ = false;  // boot_ has called since other_ appeared
};

}  // namespace ibpod::sm::state
