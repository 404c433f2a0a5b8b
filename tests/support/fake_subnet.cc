#include "tests/support/fake_subnet.h"

#include "lib/mad/bytes.h"

#include <algorithm>

namespace ibpod {
namespace {

using mad::Attribute;
using mad::Data;
using mad::Mad;

constexpr uint64_t kFirstGuid = 0x0002c90300000000;

struct ParsedRequest {
  bool set = false;
  Attribute attribute{};
  uint32_t modifier = 0;
  mad::MKey m_key{};
  Data data{};
};

ParsedRequest decode(const Mad& mad) {
  ParsedRequest asked;
  asked.set = mad::load<uint8_t, 3>(mad) == static_cast<uint8_t>(mad::Method::set);
  asked.attribute = static_cast<Attribute>(mad::load<uint16_t, 16>(mad));
  asked.modifier = mad::load<uint32_t, 20>(mad);
  asked.m_key = mad::MKey{mad::load<uint64_t, 24>(mad)};
  std::copy_n(mad.begin() + 64, asked.data.size(), asked.data.begin());
  return asked;
}

// For an adapter the port through which the question came in.
FakeSubnetPort* port_of(FakeLinkEnd end, uint32_t port) {
  auto& ports = end.node->ports;
  const auto found = ports.find(end.node->switch_info ? static_cast<uint8_t>(port)
                                                      : std::max<uint8_t>(end.port, 1));
  return port > 0xff || found == ports.end() ? nullptr : &found->second;
}

uint16_t pkey_table(FakeLinkEnd end, ParsedRequest& asked) {
  FakeSubnetPort* const port = port_of(end, asked.modifier >> 16);
  const auto block = static_cast<uint16_t>(asked.modifier & 0xffff);
  if (port == nullptr || block * mad::kBlockEntries >= port->pkeys.size())
    return mad::kStatusBadValue;
  const auto first = port->pkeys.begin() + static_cast<long>(block * mad::kBlockEntries);
  const size_t count =
      std::min<size_t>(mad::kBlockEntries, port->pkeys.size() - block * mad::kBlockEntries);
  if (asked.set) std::copy_n(mad::parse_pkey_block(asked.data)->begin(), count, first);
  asked.data = mad::encode(mad::block_of(port->pkeys, block));
  return 0;
}

Data node_info(FakeLinkEnd end) {
  mad::NodeInfo info = end.node->info;
  info.local_port = end.port;
  if (!end.node->switch_info) info.port_guid = port_of(end, 0)->guid;
  return encode(info);
}

Data description(const FakeSubnetNode& node) {
  Data data{};
  std::transform(node.description.begin(), node.description.end(), data.begin(),
                 [](char character) { return static_cast<std::byte>(character); });
  return data;
}

std::optional<Data> told(FakeLinkEnd end, const ParsedRequest& asked) {
  const FakeSubnetNode& node = *end.node;
  if (asked.attribute == Attribute::node_info) return node_info(end);
  if (asked.attribute == Attribute::node_description) return description(node);
  if (asked.attribute == Attribute::switch_info && node.switch_info)
    return encode(*node.switch_info);
  if (asked.attribute == Attribute::sm_info && node.manager) return encode(*node.manager);
  return std::nullopt;
}

uint16_t perform(FakeLinkEnd end, ParsedRequest& asked) {
  if (end.node->refuses_with != 0) return end.node->refuses_with;
  if (asked.attribute == end.node->lacks) return mad::kStatusBadAttribute;
  if (asked.attribute == Attribute::pkey_table) return pkey_table(end, asked);
  if (asked.set) return mad::kStatusBadAttribute;
  if (asked.attribute == Attribute::port_info) {
    const FakeSubnetPort* const port = port_of(end, asked.modifier);
    if (port == nullptr) return mad::kStatusBadValue;
    asked.data = encode(port->info);
    return 0;
  }
  const auto data = told(end, asked);
  if (!data) return mad::kStatusBadAttribute;
  asked.data = *data;
  return 0;
}

bool permitted(const FakeSubnetNode& node, const ParsedRequest& asked) {
  if (node.m_key == mad::MKey::none || node.m_key == asked.m_key) return true;
  return !asked.set && node.protection < 2;
}

FakeSubnetPort new_port(ib::Guid guid, ib::Lid lid, uint16_t partition_cap) {
  FakeSubnetPort port;
  port.guid = guid;
  port.info.state = lid == 0 ? ib::PortState::down : ib::PortState::active;
  port.info.lid = lid;
  port.pkeys.resize(partition_cap);
  if (partition_cap != 0) port.pkeys.front() = ib::kDefaultFull;
  return port;
}

FakeSubnetNode new_switch(uint64_t guid, ib::Lid lid, uint8_t ports, uint16_t partition_cap) {
  FakeSubnetNode node;
  node.info.type = mad::NodeType::switch_node;
  node.info.ports = ports;
  node.info.partition_cap = mad::kBlockEntries;
  node.info.node_guid = node.info.port_guid = ib::Guid(guid);
  node.description = "switch " + std::to_string(lid);
  node.switch_info = mad::SwitchInfo{.partition_cap = partition_cap};
  node.ports[0] = new_port(ib::Guid(guid), lid, mad::kBlockEntries);
  node.ports[0].info.state = ib::PortState::active;
  for (uint8_t port = 1; port <= ports; ++port) node.ports[port] = new_port({}, 0, partition_cap);
  return node;
}

void set_state(FakeLinkEnd end, ib::PortState state) {
  end.node->ports.at(end.port).info.state = state;
}

}  // namespace

FakeSubnetNode& FakeSubnet::keep(ib::Lid lid, FakeSubnetNode node) {
  return *(nodes_[lid] = std::make_unique<FakeSubnetNode>(std::move(node)));
}

FakeSubnetNode& FakeSubnet::add_adapter(ib::Lid lid, uint16_t partition_cap, uint8_t ports) {
  FakeSubnetNode node;
  const uint64_t guid = kFirstGuid + lid * 16U;
  node.info.type = mad::NodeType::channel_adapter;
  node.info.ports = ports;
  node.info.partition_cap = partition_cap;
  node.info.node_guid = ib::Guid(guid);
  node.description = "host " + std::to_string(lid);
  for (uint8_t port = 1; port <= ports; ++port)
    node.ports[port] =
        new_port(ib::Guid(guid + port), static_cast<ib::Lid>(lid + port - 1), partition_cap);
  FakeSubnetNode& kept = keep(lid, std::move(node));
  if (start_.node == nullptr) start_ = {&kept, 1};
  return kept;
}

FakeSubnetNode& FakeSubnet::add_switch(ib::Lid lid, uint8_t ports, uint16_t partition_cap) {
  return keep(lid, new_switch(kFirstGuid + lid * 16U, lid, ports, partition_cap));
}

void FakeSubnet::connect(FakeLinkEnd one, FakeLinkEnd other) {
  for (const auto& [here, there] : {std::pair(one, other), std::pair(other, one)}) {
    FakeSubnetPort& port = here.node->ports.at(here.port);
    port.peer = there;
    port.unplugged = false;
    set_state(here, ib::PortState::active);
  }
}

void FakeSubnet::unplug(FakeLinkEnd one) {
  for (const FakeLinkEnd end : {one, one.node->ports.at(one.port).peer}) {
    end.node->ports.at(end.port).peer = {};
    end.node->ports.at(end.port).unplugged = true;
    set_state(end, ib::PortState::down);
  }
}

FakeLinkEnd FakeSubnet::end_with(ib::Lid lid) {
  for (const auto& [added, node] : nodes_) {
    for (const auto& [number, port] : node->ports) {
      if (port.info.lid == lid && !port.unplugged) return {node.get(), number};
    }
  }
  return {};
}

FakeLinkEnd FakeSubnet::invented_behind(FakeLinkEnd end) {
  const auto count = static_cast<uint64_t>(invented_.size());
  invented_.push_back(std::make_unique<FakeSubnetNode>(
      new_switch(0x0bad000000000000 + count, 0, end.node->info.ports, mad::kBlockEntries)));
  FakeSubnetNode& node = *invented_.back();
  node.invents = true;
  for (uint8_t port = 1; port <= node.info.ports; ++port)
    set_state({&node, port}, ib::PortState::active);
  connect(end, {&node, 1});
  return {&node, 1};
}

FakeLinkEnd FakeSubnet::beyond(FakeLinkEnd end) {
  const auto port = end.node->ports.find(end.port);
  if (port == end.node->ports.end()) return {};
  if (port->second.peer.node == nullptr && end.node->invents) return invented_behind(end);
  return port->second.peer;
}

FakeLinkEnd FakeSubnet::end_of(const mad::Route& route) {
  if (!route.directed()) return end_with(route.lid());
  FakeLinkEnd end = start_;
  for (size_t hop = 0; hop < route.hops().size() && end.node != nullptr; ++hop) {
    if (hop != 0 && (!end.node->switch_info || end.node->silent)) return {};
    end = beyond({end.node, route.hops()[hop]});
  }
  return end;
}

std::optional<Mad> FakeSubnet::answer(const Mad& question, const mad::Route& route) {
  const FakeLinkEnd end = end_of(route);
  if (end.node == nullptr) return std::nullopt;
  FakeSubnetNode& node = *end.node;
  ParsedRequest asked = decode(question);
  if (node.before_answer) node.before_answer(asked.attribute);
  if (node.questions++ == node.silent_after) node.silent = true;
  if (node.silent || !permitted(node, asked)) return std::nullopt;
  const uint16_t status = perform(end, asked);
  Mad answer = question;
  mad::store<3>(answer, uint8_t{0x81});
  mad::store<4>(answer, static_cast<uint16_t>(status | (route.directed() ? 0x8000 : 0)));
  std::copy(asked.data.begin(), asked.data.end(), answer.begin() + 64);
  return answer;
}

}  // namespace ibpod
