// Machine: which machine speaks for a node. Two of one name and certificate (a cloned image, two
// clusters on one subnet) would end each other's bindings, as neither has the other's pods.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace ibpod::sm::registry {

class BootIdTracker {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  enum class Relation {
    same,       // it speaks for the node: also one that comes first, or when the former is silent
    another,    // the former may be alive, or this may be it, after a boot
    intruding,  // the former is alive: it has been heard of since
  };

  BootIdTracker() = default;
  // As it is known from the disk; `loaded` counts as the last time that it was heard of.
  BootIdTracker(std::string boot, Steady loaded) : boot_(std::move(boot)), last_contact_(loaded) {}

  struct Limits {
    Steady::duration silence;  // without a Sync: it may have ended, and this be the same machine
    Steady::duration lease;    // so one has ended beside which another one is known
  };
  // Of a Sync with that boot ID.
  Relation note(const std::string& boot, Steady now, const Limits& limits);
  // Of the one that speaks for the node; empty for none.
  const std::string& boot() const { return boot_; }
  // How long it has still to be silent for `another` to become `same`.
  Steady::duration silence_left(Steady now, const Limits& limits) const;
  // Another one that is alive beside it.
  bool has_duplicate(Steady now, const Limits& limits) const;

 private:
  std::string boot_;
  Steady last_contact_;
  std::string other_;
  Steady other_last_contact_;
  bool both_alive_ = false;  // boot_ has been heard of since other_ came
};

}  // namespace ibpod::sm::registry
