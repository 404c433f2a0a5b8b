// PortFacts: facts for a Bind that the state does not have: the subnet, and partitions that
// ibpod-sm does not manage.
#pragma once

#include "sm/partitions/index0.h"
#include "sm/state/now.h"

#include <functional>
#include <optional>

namespace ibpod::sm::bindings {

// Sizes of P_Key tables, in entries: of the port, and of the connected switch port if that enforces
// partitions. 0: not known, so not checked.
struct TableCapacity {
  size_t of_port = 0;
  size_t of_switch_port = 0;
  // Entries that the default partition and the administrator's section use.
  size_t taken = 1;
};

struct PortFacts {
  TableCapacity capacity = {};
  partitions::Index0Facts index0 = {};
  // The start of the last full scan, if it was complete and has not found the port.
  std::optional<state::Steady> absent_at = {};
  // True if no scan has ever found the port. False before the first scan.
  bool never_seen = false;
  // Bindings of the request's node on ports that no scan has ever found.
  std::function<size_t()> never_seen_of_node = [] { return size_t{0}; };
  // The size of the administrator's section in partitions.conf.
  size_t manual_bytes = 0;
};

}  // namespace ibpod::sm::bindings
