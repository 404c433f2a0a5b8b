// Walk: the state of a discovery: the nodes found, and those to visit next. The caller passes the
// answers; there is no I/O here.
#pragma once

#include "lib/fabric/topology.h"
#include "lib/mad/node_info.h"
#include "lib/mad/port_info.h"
#include "sm/probe/discovery.h"

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::probe {

// One end of a link.
struct LinkEnd {
  ib::Guid node;
  uint8_t port = 0;
  auto operator<=>(const LinkEnd&) const = default;
};

// A switch, or one port of an adapter, whose other ports have other neighbors.
struct WalkedNode {
  mad::Route path = mad::Route::own();
  mad::NodeInfo info;
  std::string description = {};
  std::optional<mad::SwitchInfo> switch_info = {};
  std::map<uint8_t, mad::PortInfo> ports = {};  // those that have answered

  bool is_switch() const { return info.type == mad::NodeType::switch_node; }
};

// A node to visit, and the end of the link that leads there; our own node has none.
struct NextNode {
  mad::Route path = mad::Route::own();
  std::optional<LinkEnd> from = {};
};

class Walk {
 public:
  explicit Walk(const DiscoveryLimits& limits) : limits_(limits) {}

  // The nodes to visit next, our own node first. Empty: the walk is over.
  std::vector<NextNode> next();
  // Adds the node that answered. nullptr if it is known already, or is invalid.
  WalkedNode* add_node(const NextNode& visit, const mad::NodeInfo& info);
  // True if the limit allows another request, and counts it. If not, the topology is truncated.
  bool may_ask();
  // Adds the node's neighbors to the next visits. Call it after the node's ports have answered.
  void follow(const WalkedNode& node);
  void add_unanswered(fabric::UnansweredQuery unseen);

  fabric::Topology::Contents contents();

 private:
  void connect(const LinkEnd& one, const LinkEnd& other);
  void note_peer(const LinkEnd& end, const LinkEnd& peer);
  void compare(const WalkedNode& known, const mad::NodeInfo& info);
  bool is_contradicted(const LinkEnd& end) const;
  void go(const WalkedNode& from, uint8_t port);
  const WalkedNode* find(const LinkEnd& end) const;
  std::optional<fabric::SwitchPort> switch_port_of(const LinkEnd& end) const;
  fabric::Port seen(const WalkedNode& node) const;

  DiscoveryLimits limits_;
  bool begun_ = false;
  std::vector<NextNode> next_;
  size_t requests_ = 0;
  std::map<LinkEnd, WalkedNode> nodes_;     // key of a switch: its port 0
  std::map<LinkEnd, LinkEnd> peers_;        // the other end of each link
  std::map<ib::Guid, LinkEnd> port_guids_;  // the owner of each port GUID
  fabric::Topology::Contents found_;        // without the ports
};

}  // namespace ibpod::sm::probe
