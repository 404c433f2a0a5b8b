#include "device-plugin/pool_config.h"

#include <algorithm>

#include <strings.h>

namespace ibpod::device_plugin {
namespace {

bool are_disjoint(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  return !one.empty() && !other.empty() &&
         std::find_first_of(one.begin(), one.end(), other.begin(), other.end()) == one.end();
}

bool are_disjoint(const Selector& one, const Selector& other) {
  return are_disjoint(one.vendors, other.vendors) || are_disjoint(one.devices, other.devices) ||
         are_disjoint(one.drivers, other.drivers);
}

void compare(const std::vector<PfChoice>& earlier, const std::vector<PfChoice>& later,
             const std::string& first, const std::string& second, std::vector<std::string>& found) {
  for (const PfChoice& a : earlier) {
    for (const PfChoice& b : later) {
      const bool by_number = !a.vfs.empty() || !b.vfs.empty();
      if (!by_number || ::strcasecmp(a.pf.c_str(), b.pf.c_str()) != 0) continue;
      const std::optional<uint32_t> vf = common_vf(a, b);
      if (vf)
        found.push_back(second + ": \"" + b.text + "\" overlaps \"" + a.text + "\" of " + first +
                        " from VF " + std::to_string(*vf) + " on: " + first + " takes it");
    }
  }
}

void compare(const Pool& earlier, const Pool& later, std::vector<std::string>& found) {
  if (earlier.kind != PoolKind::device || later.kind != PoolKind::device) return;
  for (const Selector& a : earlier.selectors) {
    for (const Selector& b : later.selectors) {
      if (are_disjoint(a, b)) continue;
      compare(a.pf_names, b.pf_names, earlier.resource(), later.resource(), found);
      compare(a.root_devices, b.root_devices, earlier.resource(), later.resource(), found);
    }
  }
}

}  // namespace

std::vector<std::string> overlaps(const std::vector<Pool>& pools) {
  std::vector<std::string> found;
  for (size_t later = 0; later < pools.size(); ++later) {
    for (size_t earlier = 0; earlier < later; ++earlier)
      compare(pools[earlier], pools[later], found);
  }
  return found;
}

}  // namespace ibpod::device_plugin
