#include "device-plugin/explain.h"

#include "device-plugin/test_devices.h"

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

std::vector<Pool> pools() {
  Pool vfio;
  vfio.prefix = "example.com";
  vfio.name = "vfio";
  vfio.selectors.resize(1);
  vfio.selectors[0].drivers = {"vfio-pci"};
  Pool low = vfio;
  low.name = "low";
  low.selectors[0] = Selector();
  low.selectors[0].pf_names = {parse_pf_choice("ib0#0-3")};
  Pool rest = vfio;
  rest.name = "rest";
  rest.selectors.clear();
  return {vfio, low, rest};
}

// One line each.
std::string text(const Explanation& made) {
  std::string text =
      made.device + ": " + (made.resource.empty() ? "in no pool" : "in " + made.resource) + "\n";
  for (const std::string& line : made.notes) text += "  " + line + "\n";
  for (const PoolExplanation& pool : made.pools)
    text += "  " + pool.resource + (pool.has_device ? ": in: " : ": not in: ") + pool.reason + "\n";
  return text;
}

TEST_CASE("a device in a pool: what took it, what kept it out before, and who came first") {
  CHECK(text(explain(pools(), test_vf(0, 2))) ==
        "0000:3b:00.3: in example.com/low\n"
        "  example.com/vfio: not in: selectors[0].drivers: expected vfio-pci, found mlx5_core\n"
        "  example.com/low: in: by selectors[0]\n"
        "  example.com/rest: not in: it is in example.com/low, which comes first\n");
  CHECK(explain(pools(), test_vf(1, 2)).pools[2].reason == "the pool takes every such device");
}

TEST_CASE("a device in no pool, and what else there is to say of it") {
  Device device = test_vf(0, 2);
  device.host_use = "carries the default route";
  device.quarantine = "an unfinished clean-up";
  device.attachment = "container c1, net1";
  const Explanation made = explain(pools(), device);
  CHECK(made.resource.empty());
  CHECK(made.notes == std::vector<std::string>{"the host needs it: carries the default route",
                                               "in quarantine: an unfinished clean-up",
                                               "in use: container c1, net1"});
  CHECK(made.pools[2] ==
        PoolExplanation{"example.com/rest", false, "the host needs it: carries the default route"});
  CHECK(text(explain({}, device)).find("in no pool") != std::string::npos);
}

TEST_CASE("a device that a pod has from a pool whose selectors would not take it any more") {
  const Device device = test_vf(1, 0);
  const Explanation made = explain(pools(), device, {{device.address, "example.com/low"}});
  CHECK(made.resource == "example.com/low");
  CHECK(made.pools[1].reason ==
        "a pod has it from this pool; otherwise: selectors[0].pfNames: expected ib0#0-3, found ib1 "
        "VF 0");
  CHECK(made.pools[2].reason == "it is in example.com/low, which has given it to a pod");
}

}  // namespace
}  // namespace ibpod::device_plugin
