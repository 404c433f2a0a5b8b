#include "device-plugin/preferred_allocation.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ibpod::device_plugin {
namespace {

using PoolDevices = std::vector<const PoolDevice*>;
// A property that two devices can have in common.
using Key = std::string (*)(const Device&);

std::string pf_of(const Device& device) { return device.pf.value_or(device.address).text(); }
std::string root_of(const Device& device) { return device.pcie_root; }
std::string numa_of(const Device& device) {
  return device.numa ? std::to_string(*device.numa) : "";
}

std::vector<Key> keys_of(Policy policy) {
  if (policy == Policy::numa) return {numa_of, root_of, pf_of};
  return {pf_of};
}

Result<PoolDevices> find(const std::vector<PoolDevice>& pool_devices,
                         const std::vector<std::string>& ids, const char* list) {
  std::set<std::string> missing(ids.begin(), ids.end());
  PoolDevices found;
  for (const PoolDevice& pool_device : pool_devices) {
    if (missing.erase(pool_device.id) > 0) found.push_back(&pool_device);
  }
  if (missing.empty()) return found;
  return Error(Code::invalid, std::string(list) + ": the pool has no device " + *missing.begin());
}

size_t count(const PoolDevices& pool_devices, Key key, const std::string& value) {
  return static_cast<size_t>(
      std::count_if(pool_devices.begin(), pool_devices.end(),
                    [&](const PoolDevice* o) { return key(o->device) == value; }));
}

std::map<std::string, PoolDevices> grouped(const PoolDevices& pool_devices, Key key) {
  std::map<std::string, PoolDevices> groups;
  for (const PoolDevice* pool_device : pool_devices)
    groups[key(pool_device->device)].push_back(pool_device);
  return groups;
}

// The next group: beside the devices chosen already; else the group that is nearly used up but has
// enough; else the one with the most. A group without a name (unknown) comes last.
std::string best_group(const std::map<std::string, PoolDevices>& groups, const PoolDevices& chosen,
                       Key key, size_t wanted) {
  const auto worth = [&](const std::string& name, const PoolDevices& free) {
    const bool enough = free.size() >= wanted;
    return std::tuple(count(chosen, key, name), !name.empty(), enough,
                      enough ? SIZE_MAX - free.size() : free.size());
  };
  auto best = groups.begin();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (worth(group->first, group->second) > worth(best->first, best->second)) best = group;
  }
  return best->first;
}

// Chooses `wanted` of `free`: group by group by the first key, and within a group by the next.
void fill(PoolDevices free, const std::vector<Key>& keys, size_t depth, size_t wanted,
          PoolDevices& chosen) {
  if (depth == keys.size()) {
    chosen.insert(chosen.end(), free.begin(), free.begin() + static_cast<ptrdiff_t>(wanted));
    return;
  }
  std::map<std::string, PoolDevices> groups = grouped(free, keys[depth]);
  while (wanted > 0) {
    const std::string name = best_group(groups, chosen, keys[depth], wanted);
    const size_t from_here = std::min(wanted, groups[name].size());
    fill(groups[name], keys, depth + 1, from_here, chosen);
    wanted -= from_here;
    groups.erase(name);
  }
}

// One at a time, of the PF that has the fewest chosen, then of the one with the most left.
void spread(const PoolDevices& free, size_t wanted, PoolDevices& chosen) {
  std::map<std::string, PoolDevices> groups = grouped(free, pf_of);
  for (; wanted > 0; --wanted) {
    const auto worth = [&](const auto& group) {
      return std::tuple(group.second.empty(), count(chosen, pf_of, group.first),
                        SIZE_MAX - group.second.size());
    };
    const auto best =
        std::min_element(groups.begin(), groups.end(),
                         [&](const auto& a, const auto& b) { return worth(a) < worth(b); });
    chosen.push_back(best->second.front());
    best->second.erase(best->second.begin());
  }
}

PoolDevices without(const PoolDevices& pool_devices, const PoolDevices& taken) {
  PoolDevices rest;
  for (const PoolDevice* pool_device : pool_devices) {
    if (std::find(taken.begin(), taken.end(), pool_device) == taken.end())
      rest.push_back(pool_device);
  }
  return rest;
}

}  // namespace

Result<std::vector<std::string>> preferred_allocation(const std::vector<PoolDevice>& pool_devices,
                                                      Policy policy,
                                                      const PreferredAllocationRequest& request) {
  const PoolDevices available = TRY(find(pool_devices, request.available, "available"));
  PoolDevices chosen = TRY(find(pool_devices, request.must_include, "must_include"));
  const PoolDevices free = without(available, chosen);
  if (chosen.size() > request.size || chosen.size() + free.size() < request.size)
    return Error(Code::invalid, std::to_string(request.size) + " devices are requested, " +
                                    std::to_string(chosen.size()) + " must be among them, and " +
                                    std::to_string(free.size()) + " others are available");
  const size_t wanted = request.size - chosen.size();
  if (policy == Policy::spread)
    spread(free, wanted, chosen);
  else
    fill(free, keys_of(policy), 0, wanted, chosen);
  std::vector<std::string> ids;
  for (const PoolDevice* pool_device : chosen) ids.push_back(pool_device->id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace ibpod::device_plugin
