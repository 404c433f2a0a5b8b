#include "sm/probe/walk.h"

#include <utility>

namespace ibpod::sm::probe {
namespace {

constexpr size_t kMostUnseen = 1000;  // kept; all are counted

bool is_switch(const mad::NodeInfo& info) { return info.type == mad::NodeType::switch_node; }

LinkEnd key_of(const mad::NodeInfo& info) {
  return {info.node_guid, is_switch(info) ? uint8_t{0} : info.local_port};
}

// As Port::route(), but for a switch: its port 0 has no link state.
mad::Route route_of(const WalkedNode& node) {
  const auto own = node.ports.find(0);
  const auto by_lid = mad::Route::to(own == node.ports.end() ? ib::Lid{0} : own->second.lid);
  return by_lid ? *by_lid : node.path;
}

// False if the answer does not identify a port.
bool can_be(const mad::NodeInfo& info) {
  return !info.node_guid.none() && !info.port_guid.none() &&
         (is_switch(info) || info.local_port != 0);
}

}  // namespace

std::vector<NextNode> Walk::next() {
  if (!std::exchange(begun_, true)) next_.emplace_back();
  return std::exchange(next_, {});
}

bool Walk::may_ask() {
  const bool may = requests_ < limits_.requests;
  if (may) ++requests_;
  found_.truncated |= !may;
  return may;
}

void Walk::add_unanswered(fabric::UnansweredQuery unseen) {
  ++found_.unanswered_count;
  if (found_.unanswered.size() < kMostUnseen) found_.unanswered.push_back(std::move(unseen));
}

WalkedNode* Walk::add_node(const NextNode& visit, const mad::NodeInfo& info) {
  if (!can_be(info)) {
    add_unanswered({.path = visit.path, .why = {mad::Reason::malformed, 0}});
    return nullptr;
  }
  const LinkEnd key = key_of(info);
  if (nodes_.size() >= limits_.nodes && !nodes_.contains(key)) {
    found_.truncated = true;
    return nullptr;
  }
  const auto [place, is_new] =
      nodes_.try_emplace(key, WalkedNode{.path = visit.path, .info = info});
  if (is_new) {
    const auto [other, first] = port_guids_.try_emplace(info.port_guid, key);
    if (!first) found_.duplicates.insert(info.port_guid);
  } else {
    compare(place->second, info);
  }
  if (visit.from) connect(*visit.from, {info.node_guid, info.local_port});
  return is_new ? &place->second : nullptr;
}

// Two nodes with the same node GUID are one node only if their port GUIDs are equal.
void Walk::compare(const WalkedNode& known, const mad::NodeInfo& info) {
  if (known.info.port_guid == info.port_guid) return;
  found_.duplicates.insert(known.info.port_guid);
  found_.duplicates.insert(info.port_guid);
}

void Walk::connect(const LinkEnd& one, const LinkEnd& other) {
  note_peer(one, other);
  note_peer(other, one);
}

// A link has two ends: if an end has a second peer, its GUID is at two places.
void Walk::note_peer(const LinkEnd& end, const LinkEnd& peer) {
  const auto [known, is_new] = peers_.try_emplace(end, peer);
  if (is_new || known->second == peer) return;
  if (const WalkedNode* const node = find(end)) found_.duplicates.insert(node->info.port_guid);
}

// A port that is down, or that the switch does not have, is connected to nothing.
bool Walk::is_contradicted(const LinkEnd& end) const {
  const auto node = nodes_.find({end.node, 0});
  if (node == nodes_.end()) return false;
  const auto info = node->second.ports.find(end.port);
  if (info == node->second.ports.end()) return end.port > node->second.info.ports;
  return info->second.state < ib::PortState::init;
}

// The node at an end of a link.
const WalkedNode* Walk::find(const LinkEnd& end) const {
  auto node = nodes_.find(end);
  if (node == nodes_.end() || end.port == 0) node = nodes_.find({end.node, 0});
  return node == nodes_.end() ? nullptr : &node->second;
}

// Follows the links of a switch, except the one that led here; an adapter does not forward packets,
// so only our own port is followed. Other links are followed from both ends: a node with a false
// GUID could otherwise hide the nodes that it claims to be connected to.
void Walk::follow(const WalkedNode& node) {
  const bool own = node.path.hops().empty();
  if (!node.is_switch()) {
    if (own) go(node, node.info.local_port);
    return;
  }
  for (const auto& [port, info] : node.ports) {
    const bool came_in = !own && port == node.info.local_port;
    if (port != 0 && !came_in && info.state >= ib::PortState::init) go(node, port);
  }
}

void Walk::go(const WalkedNode& from, uint8_t port) {
  auto hops = from.path.hops();
  hops.push_back(port);
  auto route = mad::Route::along(std::move(hops));
  if (!route) found_.truncated = true;
  if (!route || !may_ask()) return;
  next_.push_back({*std::move(route), LinkEnd{from.info.node_guid, port}});
}

std::optional<fabric::SwitchPort> Walk::switch_port_of(const LinkEnd& end) const {
  const auto peer = peers_.find(end);
  if (peer == peers_.end()) return std::nullopt;
  const auto node = nodes_.find({peer->second.node, 0});
  if (node == nodes_.end()) return std::nullopt;
  const WalkedNode& leaf = node->second;
  fabric::SwitchPort found{.switch_guid = leaf.info.port_guid,
                           .route = route_of(leaf),
                           .port = peer->second.port,
                           .enforcement = {}};
  const auto info = leaf.ports.find(found.port);
  if (leaf.switch_info && info != leaf.ports.end())
    found.enforcement = {leaf.switch_info->partition_cap, info->second.enforces_inbound,
                         info->second.enforces_outbound};
  return found;
}

fabric::Port Walk::seen(const WalkedNode& node) const {
  fabric::Port port;
  port.guid = node.info.port_guid;
  port.node_guid = node.info.node_guid;
  port.node = node.info.type;
  port.number = node.is_switch() ? uint8_t{0} : node.info.local_port;
  port.description = node.description;
  port.partition_cap = node.info.partition_cap;
  port.path = node.path;
  if (!node.is_switch()) port.switch_port = switch_port_of({node.info.node_guid, port.number});
  const auto found = node.ports.find(port.number);
  if (found == node.ports.end()) return port;
  const mad::PortInfo& info = found->second;
  port.state = info.state;
  port.lid = info.lid;
  port.subnet_prefix = info.subnet_prefix;
  port.m_key_protection = info.m_key_protection;
  port.m_key_lease = info.m_key_lease;
  port.is_sm = (info.capabilities & mad::kCapabilitySm) != 0;
  port.virtualized = (info.capabilities2 & mad::kCapability2Virtual) != 0;
  return port;
}

fabric::Topology::Contents Walk::contents() {
  for (const auto& [end, peer] : peers_) {
    if (is_contradicted(end)) found_.duplicates.insert(find(end)->info.port_guid);
  }
  fabric::Topology::Contents contents = found_;
  for (const auto& [key, node] : nodes_) contents.ports.push_back(seen(node));
  return contents;
}

}  // namespace ibpod::sm::probe
