#include "sm/diagnose/test_snapshot.h"

#include <doctest/doctest.h>

namespace ibpod::sm::diagnose {
namespace {

using fabric::Membership;
using fabric::PortGroup;
using test::host;
using test::TestSubnet;

fabric::PartitionDefinition first(const std::string& name, uint16_t pkey,
                                  fabric::PortSpecifier port) {
  return {
      .name = name, .pkey = ib::PKey(pkey), .index0 = true, .members = {{port, Membership::full}}};
}

TEST_CASE("a port is described by its GUID and its node") {
  TestSubnet subnet(1);
  const FabricSnapshot snapshot = subnet.snapshot();
  CHECK(described(snapshot.topology, test::host(0)) == "00:02:c9:03:00:00:00:01 (\"h0 mlx5_0\")");
  CHECK(described(snapshot.topology, test::host(7)) == "00:02:c9:03:00:00:00:08");
  CHECK(end_port(snapshot, test::host(0)).runs_sm);
  CHECK(end_port(snapshot, test::kSwitch).node == mad::NodeType::switch_node);
  CHECK(end_port(snapshot, test::host(7)).node == mad::NodeType::channel_adapter);
}

TEST_CASE("index 0 is claimed by partitions of a GUID and of a group; the default one gives way") {
  TestSubnet subnet(2);
  subnet.partitions[0].index0 = true;
  subnet.add(first("blue", 1, test::host(1)));
  CHECK(index0_clashes(subnet.partitions, subnet.snapshot()).empty());
  subnet.add(first("red", 2, PortGroup::all_cas));
  const auto clashes = index0_clashes(subnet.partitions, subnet.snapshot());
  REQUIRE(clashes.size() == 1);
  CHECK(clashes.at(test::host(1)) == std::vector<std::string>{"blue", "red"});
  fabric::PartitionDefinition keeping = first("green", 3, test::host(0));
  keeping.members.front().skip_index0 = true;
  subnet.add(keeping);
  CHECK(index0_clashes(subnet.partitions, subnet.snapshot()).size() == 1);
}

}  // namespace
}  // namespace ibpod::sm::diagnose
