#include "lib/fabric/end_port.h"

#include "lib/base/join.h"
#include "lib/fabric/partitions_conf.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

const EndPort kHost{ib::Guid(0x10), mad::NodeType::channel_adapter, false};
const EndPort kSm{ib::Guid(0x11), mad::NodeType::channel_adapter, true};
const EndPort kSwitch{ib::Guid(0x20), mad::NodeType::switch_node, false};
const EndPort kRouter{ib::Guid(0x30), mad::NodeType::router, false};

std::string keys(std::string_view conf, const EndPort& port) {
  const auto definitions = read_partitions(conf, {true, true});
  if (!definitions) FAIL(definitions.error().text());
  return join(keys_of(*definitions, port), " ", &ib::PKey::text);
}

TEST_CASE("a port has the keys of the partitions that name it, or a group that it is in") {
  struct {
    const char* conf;
    const char *host, *sm, *switch_node, *router;
  } const table[] = {
      {"a=0x1:NONE;", "", "", "", ""},
      {"a=0x1:ALL;", "0x0001", "0x0001", "0x0001", "0x0001"},
      {"a=0x1:ALL_CAS=full;", "0x8001", "0x8001", "", ""},
      {"a=0x1:ALL_SWITCHES,ALL_ROUTERS=full;", "", "", "0x0001", "0x8001"},
      {"a=0x1:SELF=full;b=0x2:0x0000000000000010;", "0x0002", "0x8001", "", ""},
      {"a=0x1:ALL=full,0x0000000000000010=both,SELF;", "0x0001 0x8001", "0x0001", "0x8001",
       "0x8001"},
      {"Default=0x7fff:NONE;", "0x7fff", "0xffff", "0x7fff", "0x7fff"},
      {"Default=0x7fff:0x0000000000000010=full;", "0xffff", "0xffff", "0x7fff", "0x7fff"},
      // The subnet manager's own port, too.
      {"Default=0x7fff:ALL;", "0x7fff", "0x7fff", "0x7fff", "0x7fff"},
  };
  for (const auto& row : table) {
    CAPTURE(row.conf);
    CHECK(keys(row.conf, kHost) == row.host);
    CHECK(keys(row.conf, kSm) == row.sm);
    CHECK(keys(row.conf, kSwitch) == row.switch_node);
    CHECK(keys(row.conf, kRouter) == row.router);
  }
}

TEST_CASE("index 0 is for the ports that a definition with indx0 names, or a group of theirs") {
  const auto taken = [](std::string_view conf, const EndPort& port) {
    return takes_index0(read_partitions(conf, {true, true}).value().at(0), port);
  };
  CHECK(taken("a=0x1,indx0:0x0000000000000010;", kHost));
  CHECK(taken("a=0x1,indx0:ALL_CAS;", kHost));
  CHECK(taken("Default=0x7fff,indx0:SELF=full;", kSm));
  CHECK_FALSE(taken("Default=0x7fff,indx0:SELF=full;", kHost));
  CHECK_FALSE(taken("a=0x1,indx0:ALL_SWITCHES;", kHost));
  CHECK_FALSE(taken("a=0x1:0x0000000000000010;", kHost));
  CHECK_FALSE(taken("a=0x1,indx0:0x0000000000000011;a=0x1:0x0000000000000010;", kHost));
  CHECK(taken("a=0x1,indx0:0x0000000000000010;a=0x1:0x0000000000000011;", kHost));
}

TEST_CASE("by the rule that we write, only the subnet manager reaches everybody") {
  CHECK(keys_of({default_definition()}, kHost) == std::vector{ib::PKey(0x7fff)});
  CHECK(keys_of({default_definition()}, kSm) == std::vector{ib::PKey(0xffff)});
}

}  // namespace
}  // namespace ibpod::fabric
