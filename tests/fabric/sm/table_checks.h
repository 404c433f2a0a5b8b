// Whether what ibpod-sm shows is what the ports of its subnet hold.
#pragma once

#include "tests/fabric/sm/sm_fixture.h"

#include <vector>

namespace ibpod {

// What it shows of bindings and partitions, at one time.
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
// What is shown as verified holds, whatever else goes on.
void check_verified(SmFixture& fixture);

}  // namespace ibpod
