// Compares what ibpod-sm shows with the tables in the ports of its subnet.
#pragma once

#include "tests/fabric/sm/sm_fixture.h"

#include <vector>

namespace ibpod {

// The bindings and partitions that it shows, at one time.
struct ServiceView {
  std::vector<fabric::Binding> bindings;
  std::vector<fabric::PartitionStatus> partitions;

  const fabric::Binding* find(const fabric::Attachment& attachment) const;
  const fabric::PartitionStatus* find(const std::string& partition) const;
  // That the binding gives its port.
  std::vector<ib::PKey> keys_of(const fabric::Binding& binding) const;
  // That a port has by all of it, sorted.
  std::vector<ib::PKey> keys_of(ib::Guid port) const;
};
ServiceView read_service(const SmFixture& fixture);

// All bindings are verified, and every port holds what bindings and partitions give it and the
// default key, and nothing else; the subnet manager's holds the full default one alone.
void check_tables(SmFixture& fixture);
// Every binding that is shown as verified has its keys, while anything else may be in progress.
void check_verified(SmFixture& fixture);

}  // namespace ibpod
