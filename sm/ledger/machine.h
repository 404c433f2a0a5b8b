// Machine: which machine speaks for a node. Two of one name and certificate (a cloned image, two
// clusters on one subnet) would end each other's bindings, as neither has the other's pods.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace ibpod::sm {

class Machine {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  enum class Heard {
    same,       // it speaks for the node: also one that comes first, or when the former is silent
    another,    // the former may be alive, or this may be it, after a boot
    intruding,  // the former is alive: it has been heard of since
  };

  Machine() = default;
  // As it is known from the disk; `loaded` counts as the last time that it was heard of.
  Machine(std::string boot, Steady loaded) : boot_(std::move(boot)), heard_(loaded) {}

  // Of a Sync with that boot ID. One that has not been heard of for `silence` is gone.
  Heard hear(const std::string& boot, Steady now, Steady::duration silence);
  // Of the one that speaks for the node; empty for none.
  const std::string& boot() const { return boot_; }
  // Another one that is alive beside it.
  bool is_doubled(Steady now, Steady::duration silence) const;

 private:
  std::string boot_;
  Steady heard_;
  std::string other_;
  Steady other_heard_;
  bool both_ = false;  // boot_ has been heard of since other_ came
};

}  // namespace ibpod::sm
