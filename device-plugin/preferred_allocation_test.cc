#include "device-plugin/preferred_allocation.h"

#include "device-plugin/test_devices.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

// Four PFs of four VFs; PFs 0 and 2 on NUMA node 0, 1 and 3 on 1. "1.3" is VF 3 of PF 1.
std::vector<PoolDevice> pool_devices() {
  std::vector<PoolDevice> made;
  for (const Device& device : test_node(4, 4)) {
    if (device.pf) made.push_back({device.address.text(), device, 0, ""});
  }
  return made;
}

std::string id(const std::string& name) {
  return test_vf(static_cast<uint32_t>(name[0] - '0'), static_cast<uint32_t>(name[2] - '0'))
      .address.text();
}

std::vector<std::string> ids(const std::vector<std::string>& names) {
  std::vector<std::string> made;
  for (const std::string& name : names) made.push_back(id(name));
  return made;
}

std::vector<std::string> all() {
  std::vector<std::string> made;
  for (const PoolDevice& pool_device : pool_devices()) made.push_back(pool_device.id);
  return made;
}

struct Case {
  const char* what;
  std::vector<std::string> taken;  // by others
  std::vector<std::string> must;
  size_t size;
  std::vector<std::string> want;
};

void check(Policy policy, const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    CAPTURE(one.what);
    PreferredAllocationRequest request{all(), ids(one.must), one.size};
    for (const std::string& name : one.taken)
      request.available.erase(
          std::find(request.available.begin(), request.available.end(), id(name)));
    const auto chosen = preferred_allocation(pool_devices(), policy, request);
    CHECK(chosen.value() == ids(one.want));
    std::reverse(request.available.begin(), request.available.end());
    CHECK(preferred_allocation(pool_devices(), policy, request).value() == chosen.value());
  }
}

TEST_CASE("packed: one PF, and that which is nearly used up") {
  check(Policy::packed,
        {{"nothing is in use", {}, {}, 2, {"0.0", "0.1"}},
         {"a PF with just enough left", {"2.0", "2.1"}, {}, 2, {"2.2", "2.3"}},
         {"the one with one left is too small", {"1.0", "1.1", "1.2"}, {}, 2, {"0.0", "0.1"}},
         {"one is enough", {"1.0", "1.1", "1.2"}, {}, 1, {"1.3"}},
         {"no PF has so many: as few as can be",
          {"0.0"},
          {},
          6,
          {"0.1", "0.2", "1.0", "1.1", "1.2", "1.3"}},
         {"beside what must be", {}, {"3.2"}, 3, {"3.0", "3.1", "3.2"}},
         {"what must be alone", {}, {"1.1", "2.2"}, 2, {"1.1", "2.2"}},
         {"all", {}, {}, 0, {}}});
}

TEST_CASE("spread: as many PFs as there are, and evenly") {
  check(Policy::spread,
        {{"one of each", {}, {}, 4, {"0.0", "1.0", "2.0", "3.0"}},
         {"the PFs with the most left first", {"0.0", "2.0", "2.1"}, {}, 2, {"1.0", "3.0"}},
         {"around what must be", {}, {"0.3"}, 3, {"0.3", "1.0", "2.0"}},
         {"a second round", {}, {}, 5, {"0.0", "0.1", "1.0", "2.0", "3.0"}},
         {"an empty PF is passed over",
          {"1.0", "1.1", "1.2", "1.3"},
          {},
          4,
          {"0.0", "0.1", "2.0", "3.0"}}});
}

TEST_CASE("numa: one node, there one PCIe root, there packed") {
  check(Policy::numa,
        {{"one root", {}, {}, 3, {"0.0", "0.1", "0.2"}},
         {"two roots of one node", {}, {}, 6, {"0.0", "0.1", "0.2", "0.3", "2.0", "2.1"}},
         {"the node that is nearly used up", {"1.0", "3.0"}, {}, 2, {"1.1", "1.2"}},
         {"a node that has enough",
          {"0.0", "0.1", "0.2", "2.0", "2.1"},
          {},
          4,
          {"1.0", "1.1", "1.2", "1.3"}},
         {"the node of what must be", {}, {"3.3"}, 6, {"1.0", "1.1", "3.0", "3.1", "3.2", "3.3"}},
         {"more than a node has",
          {},
          {},
          9,
          {"0.0", "0.1", "0.2", "0.3", "1.0", "2.0", "2.1", "2.2", "2.3"}}});
}

TEST_CASE("devices without a known node come last") {
  std::vector<PoolDevice> some = pool_devices();
  for (size_t i = 0; i < 4; ++i) some[i].device.numa.reset();
  CHECK(preferred_allocation(some, Policy::numa, {all(), {}, 2}).value() == ids({"2.0", "2.1"}));
}

TEST_CASE("a wish that cannot be granted is refused") {
  const auto refused = [](const PreferredAllocationRequest& request) {
    return preferred_allocation(pool_devices(), Policy::packed, request).error().text();
  };
  CHECK(refused({{"0000:00:00.0"}, {}, 1}) == "available: the pool has no device 0000:00:00.0");
  CHECK(refused({all(), {"x"}, 1}) == "must_include: the pool has no device x");
  CHECK(refused({ids({"0.0"}), {}, 2}).find("2 devices are requested") == 0);
  CHECK(refused({all(), ids({"0.0", "0.1"}), 1}).find("2 must be among them") != std::string::npos);
}

}  // namespace
}  // namespace ibpod::device_plugin
