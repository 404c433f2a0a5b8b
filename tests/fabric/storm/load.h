// Load: pods that come to ibpod-sm and go, while a reader compares the ports' tables with what was
// acknowledged.
#pragma once

#include "tests/fabric/large_network.h"
#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/storm/ports.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ibpod {

// The most calls that run at a time: ibpod-sm accepts 512, and each has a descriptor here, where
// those from 1024 on are the simulated subnet's. What comes beyond waits for its turn, which counts
// as its time, too.
inline constexpr int kMostCalls = 400;

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

// A Bind that ended as verified.
struct BindTimes {
  unsigned host;
  Clock::time_point asked, verified;
};

struct Load {
  std::vector<BindTimes> binds;
  Times bind, unbind;           // from when the pod came or went to verified, and to released
  size_t lost = 0;              // calls that ended otherwise
  std::string first_lost = {};  // how the first of them ended
  struct Readings {
    size_t judged = 0, wrong = 0, unread = 0;
  } readings;  // of ports' tables, which must not contradict what was acknowledged before
  double ms = 0;

  void print() const;
  // None is lost, none is missing, and no reading is wrong.
  void check(const Storm& storm) const;
};

// The pods of the storm are in the partition "red", whose P_Key is 0x0002.
Load run_pods(const Storm& storm, SmProcess& sm, Ports& ports);

}  // namespace ibpod
