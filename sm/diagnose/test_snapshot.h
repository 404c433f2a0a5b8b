// A small subnet: one switch, hosts on its ports 1, 2 ..., and the subnet manager on the first
// host.
#pragma once

#include "sm/diagnose/fabric_snapshot.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::diagnose::test {

inline constexpr ib::Guid kSwitch{0x0002c90300ff0000};
inline constexpr ib::PKey kLimited{0x7fff}, kFree;

// The port of the n-th host, from 0.
constexpr ib::Guid host(unsigned n) { return ib::Guid(0x0002c90300000001 + n); }

struct TestSubnet {
  explicit TestSubnet(unsigned hosts) {
    contents.ports.push_back({.guid = kSwitch,
                              .node_guid = kSwitch,
                              .node = mad::NodeType::switch_node,
                              .description = "leaf",
                              .partition_cap = 8,
                              .state = ib::PortState::active,
                              .lid = 100,
                              .m_key_protection = 2,
                              .switch_port = {}});
    tables[kSwitch] = {.keys = table({kLimited})};
    for (unsigned n = 0; n < hosts; ++n) add_host(n);
    tables[host(0)].keys[0] = switch_tables[host(0)].keys[0] = ib::kDefaultFull;
    contents.managers.push_back(
        {host(0), mad::SmInfo{.guid = host(0), .priority = 5, .state = mad::SmState::master}});
  }

  // A table of 64 entries with these keys from index 0 on.
  static ib::PKeyTable table(std::initializer_list<ib::PKey> keys) {
    ib::PKeyTable made(keys);
    made.resize(64);
    return made;
  }
  // Sets the tables of the port and its switch port.
  void hold(unsigned n, std::initializer_list<ib::PKey> keys) {
    tables[host(n)].keys = switch_tables[host(n)].keys = table(keys);
  }
  fabric::Port& port(unsigned n) { return contents.ports[n + 1]; }
  void add(fabric::PartitionDefinition definition) { partitions.push_back(std::move(definition)); }

  // Valid until this object changes.
  FabricSnapshot snapshot() {
    topology = fabric::Topology(contents);
    desired = verify::DesiredKeys(partitions);
    return {.topology = topology,
            .tables = tables,
            .switch_tables = switch_tables,
            .partitions = partitions,
            .desired = desired,
            .sm_port = host(0)};
  }

  fabric::Topology::Contents contents;
  ReadTables tables, switch_tables;
  std::vector<fabric::PartitionDefinition> partitions{fabric::default_definition()};

 private:
  void add_host(unsigned n) {
    contents.ports.push_back({.guid = host(n),
                              .node_guid = host(n),
                              .number = 1,
                              .description = "h" + std::to_string(n) + " mlx5_0",
                              .partition_cap = 64,
                              .state = ib::PortState::active,
                              .lid = static_cast<ib::Lid>(n + 1),
                              .m_key_protection = 2,
                              .switch_port = fabric::SwitchPort{.switch_guid = kSwitch}});
    fabric::SwitchPort& leaf = *contents.ports.back().switch_port;
    leaf.port = static_cast<uint8_t>(n + 1);
    leaf.enforcement = {.partition_cap = 64, .inbound = true, .outbound = true};
    hold(n, {kLimited});
  }
  fabric::Topology topology;
  verify::DesiredKeys desired;
};

}  // namespace ibpod::sm::diagnose::test
