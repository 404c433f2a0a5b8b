#include "tests/fabric/engine/subnet.h"

#include "lib/mad/umad_channel.h"
#include "tests/support/port_tables.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr unsigned kOnLeaf = 4;
constexpr uint8_t kBetween = 8;  // the port of each switch that leads to the other

// Nothing gets lost here: a slow machine is not a silent port.
mad::QueryOptions long_timeout() {
  return {.retry = {.deadline = Deadline::in(Duration(60000)), .timeout = Duration(10000)}};
}

std::string quoted(const std::string& name, unsigned port) {
  return "\"" + name + "\"[" + std::to_string(port) + "]\n";
}

std::string entry(unsigned port, const std::string& name, unsigned its) {
  return "[" + std::to_string(port) + "] " + quoted(name, its);
}

// From h7, the last one on the second switch.
mad::Route route_to(unsigned host) {
  if (host == kHosts - 1) return mad::Route::own();
  std::vector<uint8_t> hops{1};
  if (host < kOnLeaf) hops.push_back(kBetween);
  hops.push_back(static_cast<uint8_t>(host % kOnLeaf + 1));
  return mad::Route::along(hops).value();
}

}  // namespace

std::string network() {
  std::string text;
  for (unsigned leaf = 0; leaf < 2; ++leaf) {
    text += "Switch 8 \"leaf" + std::to_string(leaf) + "\"\n";
    for (unsigned n = 0; n < kOnLeaf; ++n)
      text += entry(n + 1, "h" + std::to_string(leaf * kOnLeaf + n), 1);
    text += entry(kBetween, "leaf" + std::to_string(1 - leaf), kBetween) + "\n";
  }
  for (unsigned host = 0; host < kHosts; ++host) {
    text += "Ca 1 \"h" + std::to_string(host) + "\"\n";
    text += entry(1, "leaf" + std::to_string(host / kOnLeaf), host % kOnLeaf + 1) + "\n";
  }
  return text;
}

fabric::EndPort port_of(unsigned host) {
  return {guid_of(host), mad::NodeType::channel_adapter, host == kSmHost};
}

// One for all, and never closed: the simulator's library does not outlive it that a port is closed
// while a thread of its own looks at it.
mad::Scheduler& Subnet::scheduler() {
  static mad::Scheduler* const one = [] {
    auto channel = mad::UmadChannel::open(mad::local_port("", 0).value());
    if (!channel) FAIL(channel.error().text());
    return std::make_unique<mad::Scheduler>(std::move(channel).value()).release();
  }();
  return *one;
}

std::vector<ib::PKeyTable> Subnet::tables() {
  constexpr uint16_t kPlaces = 64;
  std::vector<mad::PKeyTableAddress> places;
  for (unsigned host = 0; host < kHosts; ++host) places.push_back({{route_to(host)}, kPlaces});
  std::vector<ib::PKeyTable> tables;
  for (const auto& outcome : mad::read_tables(scheduler(), places, long_timeout())) {
    const ib::PKeyTable* table = mad::value_of(outcome);
    if (table == nullptr) FAIL(mad::failure_of(outcome)->text());
    tables.push_back(*table);
  }
  return tables;
}

ib::Lid Subnet::lid(unsigned host) {
  const auto ports = mad::read_port_infos(scheduler(), {{route_to(host)}}, {});
  const mad::PortInfo* const port = mad::value_of(ports.front());
  if (port == nullptr) FAIL(mad::failure_of(ports.front())->text());
  return port->lid;
}

void Subnet::write(unsigned host, const ib::PKeyTable& table) {
  for (uint16_t block = 0; block < mad::blocks_of(static_cast<uint16_t>(table.size())); ++block) {
    const std::vector<mad::BlockWrite> one{{{route_to(host)}, block, mad::block_of(table, block)}};
    for (const auto& written : mad::write_blocks(scheduler(), one, {}))
      REQUIRE(mad::value_of(written) != nullptr);
  }
}

std::vector<ib::PKey> keys_in(const ib::PKeyTable& table) {
  std::vector<ib::PKey> keys;
  for (const ib::PKey key : table) {
    if (key.partition() != 0) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<ib::PKey> keys_for(const std::vector<fabric::PartitionDefinition>& partitions,
                               unsigned host) {
  std::vector<ib::PKey> keys = fabric::keys_of(partitions, port_of(host));
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool open_to_all(const std::vector<ib::PKeyTable>& tables,
                 const std::vector<fabric::PartitionDefinition>& meant) {
  for (unsigned host = 0; host < kHosts; ++host) {
    const auto keys = keys_for(meant, host);
    const bool may = std::find(keys.begin(), keys.end(), ib::kDefaultFull) != keys.end();
    if (!may && ib::find_in(tables[host], ib::kDefaultFull)) return true;
  }
  return false;
}

std::string difference(const std::vector<fabric::PartitionDefinition>& partitions,
                       const std::vector<ib::PKeyTable>& tables) {
  std::string text;
  for (unsigned host = 0; host < kHosts; ++host) {
    const auto wanted = keys_for(partitions, host);
    if (keys_in(tables[host]) == wanted) continue;
    text += "h" + std::to_string(host) + ": " + ib::text(tables[host]) + ", expected";
    for (const ib::PKey key : wanted) text += " " + key.text();
    text += "\n";
  }
  return text;
}

}  // namespace ibpod
