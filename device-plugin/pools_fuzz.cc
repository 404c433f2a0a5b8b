// For any configuration of pools, sriov-network-device-plugin's or ours: it is accepted or refused
// with a reason, and devices are assigned to accepted pools.
#include "device-plugin/pool_config.h"
#include "device-plugin/test_devices.h"
#include "lib/base/resource_name.h"
#include "tests/support/fuzz.h"

#include <set>

namespace ibpod::device_plugin {
namespace {

using fuzz::require;

void check_pool(const Pool& pool) {
  require(check_resource(pool.resource()).ok());
  require((pool.ipoib_slots > 0) == (pool.kind == PoolKind::ipoib_slot) &&
          pool.ipoib_slots <= 10'000);
  for (const Selector& selector : pool.selectors)
    for (const ib::PKey key : selector.pkeys) require(key.partition() != 0);
}

// Each device once at most.
void check_assigned(const std::vector<Pool>& pools) {
  static const std::vector<Device> node = test_node(2, 3);
  std::set<ib::PciAddress> given;
  const std::vector<PoolContents> all_contents = assign(pools, node);
  require(all_contents.size() == pools.size());
  for (const PoolContents& contents : all_contents)
    for (const PoolDevice& pool_device : contents.devices)
      require(contents.pool.kind == PoolKind::ipoib_slot ||
              given.insert(pool_device.device.address).second);
}

void check_pools(const json::Value& list, size_t size) {
  const auto config = parse_pools(list, "ibpod.io");
  if (!config) return fuzz::check_refusal(config.error(), size);
  std::set<std::string> resources;
  for (const Pool& pool : config->pools) {
    check_pool(pool);
    require(resources.insert(pool.resource()).second);
  }
  check_assigned(config->pools);
}

}  // namespace
}  // namespace ibpod::device_plugin

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const auto document = json::Value::parse(fuzz::text_of(data, size), json::Comments::allowed);
  if (!document) return 0;
  device_plugin::check_pools(document->find("resourceList").value_or(*document), size);
  return 0;
}
