// Topology: a subnet as its nodes have told of it, at one time. It holds what was seen; what was
// not is named, and never taken for absent.
#pragma once

#include "lib/fabric/end_port.h"
#include "lib/ib/guid.h"
#include "lib/ib/port.h"
#include "lib/mad/request.h"
#include "lib/mad/route.h"
#include "lib/mad/sm_info.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace ibpod::fabric {

// How a switch filters packets at one of its ports (PortInfo and SwitchInfo).
struct SwitchEnforcement {
  uint16_t partition_cap =
      0;  // of that port's P_Key table; 0: the switch does not enforce partitions
  bool inbound = false;
  bool outbound = false;
  // It drops what its table does not hold, whichever way it goes.
  bool strict() const { return partition_cap > 0 && inbound && outbound; }
  bool operator==(const SwitchEnforcement&) const = default;
};

// The port of a switch that an end port is connected to.
struct SwitchPort {
  ib::Guid switch_guid = {};  // of its port 0, which is what it answers by
  mad::Route route = mad::Route::own();
  uint8_t port = 0;
  std::optional<SwitchEnforcement> enforcement = {};  // nothing: the switch has not said
  bool operator==(const SwitchPort&) const = default;
};

// A port with a P_Key table of its own: of an adapter or router, or port 0 of a switch.
struct Port {
  ib::Guid guid;
  ib::Guid node_guid;
  mad::NodeType node = mad::NodeType::channel_adapter;
  uint8_t number = 0;                   // on its node
  std::string description;              // the node's; printable ASCII, perhaps none
  uint16_t partition_cap = 0;           // of its P_Key table
  mad::Route path = mad::Route::own();  // by which it was found
  // From here on PortInfo; where that was not answered the state is unknown and there is no LID.
  ib::PortState state = ib::PortState::unknown;
  ib::Lid lid = 0;
  uint64_t subnet_prefix = 0;
  uint8_t m_key_protection = 0;  // 0 to 3
  uint16_t m_key_lease = 0;      // seconds; 0: for ever
  bool is_sm = false;            // a subnet manager runs behind it
  bool virtualized = false;      // virtual ports may be behind it
  // Nothing where it has no neighbour that is a switch, or none that was seen.
  std::optional<SwitchPort> switch_port;
  bool operator==(const Port&) const = default;

  // By its LID; by its path where it has none, or while its link is not ACTIVE: then packets to a
  // LID, which it may have kept, do not get there.
  mad::Route route() const;
};

// The SMInfo of a subnet manager, or why it could not be read.
struct DiscoveredSm {
  ib::Guid port;  // behind which it runs
  mad::Outcome<mad::SmInfo> info;

  bool is_master() const;
};

// A question without an answer, and so what may be behind it.
struct UnansweredQuery {
  mad::Route path = mad::Route::own();
  uint8_t port = 0;  // of a switch; 0 for all that is there
  mad::Attribute attribute = mad::Attribute::node_info;
  mad::Failure why = {};
};

class Topology {
 public:
  struct Contents {
    std::vector<Port> ports = {};  // of one GUID only the first is kept
    std::vector<DiscoveredSm> managers = {};
    // GUIDs of ports, and of switches, that were met at two places: which one answers to the GUID,
    // or where packets to it go, is not known. Also of one that was moved meanwhile.
    std::set<ib::Guid> duplicates = {};
    std::vector<UnansweredQuery> unanswered = {};  // the first of them
    size_t unanswered_count = 0;
    bool truncated = false;  // it was larger than a subnet can be, and not all was visited
  };

  Topology() = default;
  explicit Topology(Contents contents);

  // By GUID, in order.
  const std::vector<Port>& ports() const { return contents_.ports; }
  // O(log n). nullptr: not seen; it is not there only where whole().
  const Port* find(ib::Guid port) const;
  const std::vector<DiscoveredSm>& managers() const { return contents_.managers; }
  // The port behind which a subnet manager says that it is master; of two the first.
  std::optional<ib::Guid> master() const;
  const std::set<ib::Guid>& duplicates() const { return contents_.duplicates; }
  // True if the port, or the switch that it is connected to, was found at two places.
  bool is_ambiguous(const Port& port) const;
  const std::vector<UnansweredQuery>& unanswered() const { return contents_.unanswered; }
  size_t unanswered_count() const { return contents_.unanswered_count; }
  // It was larger than a subnet can be.
  bool is_truncated() const { return contents_.truncated; }
  // Every question was answered, and every GUID met at one place.
  bool is_complete() const;

 private:
  Contents contents_;
};

// `00:02:c9:03:00:a1:b2:c3 ("node7 mlx5_0")`; without the description if there is none.
std::string described(const fabric::Topology& topology, ib::Guid port);

}  // namespace ibpod::fabric
