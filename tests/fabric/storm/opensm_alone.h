// OpenSM without ibpod-sm, with the options that ibpod-sm gives it: what a change takes.
#pragma once

#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/large_network.h"
#include "tests/fabric/storm/ports.h"

namespace ibpod {

// Pods that come at a constant rate, live for a while, and go.
struct Storm {
  int leaves = setting("STORM_LEAVES", kLeaves);
  int seconds = setting("STORM_SECONDS", 60);
  int per_second = setting("STORM_RATE", 50);

  int pods() const { return seconds * per_second; }
  int life() const { return pods() / 3; }  // a pod goes when this many have come after it
  // Away from those that the measuring is done on.
  unsigned host_of(int pod) const {
    return 100 + static_cast<unsigned>(pod % (leaves * kHostsOfLeaf - 200));
  }
  Clock::time_point time_of(int pod, Clock::time_point begun) const {
    return begun + pod * std::chrono::milliseconds(1000) / per_second;
  }
};

class OpenSmAlone {
 public:
  explicit OpenSmAlone(Ports& ports);

  // One sweep that brings a change, from the SIGHUP to SUBNET UP, while nothing else goes on.
  Times sweep(int rounds);
  // From the SIGHUP to the key in the table, while nothing else goes on.
  Times until_visible(int rounds);
  // A SIGHUP for each pod that comes or goes, as a driver does that knows no better: prints how
  // long each waits for its key, and how many have gone before they had one.
  void run(const Storm& storm);

 private:
  static sm::opensm::OpenSmSettings settings();
  RawOpenSm opensm_;
  Ports& ports_;
};

}  // namespace ibpod
