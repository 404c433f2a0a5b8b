// Inventory: the ports that a UFM shows, physical and virtual. It shows virtual ones only while its
// own virtualization switch is on, and as they were at its last look. For any number of threads.
#pragma once

#include "lib/ib/guid.h"

#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::fake_ufm {

struct Port {
  ib::Guid guid;
  std::string system;  // its name
  ib::Guid system_guid = {};
  int lid = 0;
  std::string system_type = "Computer";
  std::string logical_state = "Active";
  bool operator==(const Port&) const = default;
};

struct Vport {
  ib::Guid guid;
  ib::Guid port;  // the physical port that it is behind
  int lid = 0;
  std::string state = "Active";
  bool operator==(const Vport&) const = default;
};

class Inventory {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void set_ports(std::vector<Port> ports);
  void set_vports(std::vector<Vport> vports);
  // UFM's virtualization switch. `interval`: between two looks at the virtual ports.
  void set_virtualization(bool on, std::chrono::milliseconds interval = {});

  std::vector<Port> ports() const;
  // Empty if the switch is off.
  std::vector<Vport> vports(Time now);
  // The GUIDs of all ports there are, also of virtual ones that are not shown.
  std::set<ib::Guid> known() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Port> ports_;
  std::vector<Vport> vports_;
  std::vector<Vport> shown_;
  std::optional<Time> looked_;
  bool virtualization_ = false;
  std::chrono::milliseconds interval_{0};
};

}  // namespace ibpod::fake_ufm
