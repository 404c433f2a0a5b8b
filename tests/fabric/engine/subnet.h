// The simulated subnet of these tests: h0 to h3 on one switch, h4 to h7 on another; the tests are a
// program on h7, OpenSM is on h0. And what the ports' tables hold.
#pragma once

#include "lib/fabric/end_port.h"
#include "lib/ib/pkey.h"
#include "lib/mad/scheduler.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ibpod {

inline constexpr unsigned kHosts = 8;
inline constexpr unsigned kSmHost = 0;

// ibsim's netlist.
std::string network();
// ibsim counts the GUIDs of adapters from 0x100000, two for each: its node and its port.
constexpr ib::Guid guid_of(unsigned host) { return ib::Guid(0x100001 + 2 * host); }
fabric::EndPort port_of(unsigned host);

class Subnet {
 public:
  // The tables of all hosts, read from their ports.
  std::vector<ib::PKeyTable> tables();
  ib::Lid lid(unsigned host);
  // Writes the table directly, unknown to the subnet manager.
  void write(unsigned host, const ib::PKeyTable& table);

 private:
  static mad::Scheduler& scheduler();
};

// The keys in a table, sorted.
std::vector<ib::PKey> keys_in(const ib::PKeyTable& table);
// Those that a host is to have, sorted.
std::vector<ib::PKey> keys_for(const std::vector<fabric::PartitionDefinition>& partitions,
                               unsigned host);
// Some host is a full member of the default partition that is not meant to be one, as only the
// subnet manager's is where nothing else is said.
bool open_to_all(const std::vector<ib::PKeyTable>& tables,
                 const std::vector<fabric::PartitionDefinition>& meant = {
                     fabric::default_definition()});
// The first difference to the partitions, for a message: "h3: 0:0x7fff, expected ..."; empty: none.
std::string difference(const std::vector<fabric::PartitionDefinition>& partitions,
                       const std::vector<ib::PKeyTable>& tables);

}  // namespace ibpod
