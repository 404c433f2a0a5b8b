#include "lib/base/nearest.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("a slip is a few letters, in any case, and never half of a word") {
  const std::vector<std::string_view> known{"link_state", "partition", "pkey", "mtu"};
  CHECK(nearest("linkState", known) == "link_state");
  CHECK(nearest("partitoin", known) == "partition");
  CHECK(nearest("sKmeyFile", {"mKeyFile", "smKeyFile", "saKeyFile"}) == "smKeyFile");
  CHECK(nearest("PKEYS", known) == "pkey");
  for (const char* const far : {"", "m", "vlan", "trust", "spoofchk", "mode"})
    CHECK(nearest(far, known).empty());
  CHECK(nearest(std::string(65, 'p'), known).empty());
  CHECK(is_meant("partitions", known) == "; did you mean \"partition\"?");
  CHECK(is_meant("vlan", known).empty());
}

// Keys of other plugins' networks, beside ours.
TEST_CASE("a sure slip is none of what others call so") {
  const std::vector<std::string_view> known{"link_state", "partition", "pkey",   "mtu",  "ipam",
                                            "deviceID",   "master",    "umcast", "guid", "mode"};
  CHECK(sure_slip("linkState", known) == "link_state");
  CHECK(sure_slip("partitoin", known) == "partition");
  CHECK(sure_slip("pkeys", known) == "pkey");
  for (const char* const other :
       {"ipMasq", "device", "vlan", "trust", "spoofchk", "mac", "bridge", "isGateway",
        "promiscMode", "min_tx_rate", "vlanQoS", "linkInContainer", "sysctl", "plugins", "pfNames"})
    CHECK_MESSAGE(sure_slip(other, known).empty(), other);
}

}  // namespace
}  // namespace ibpod
