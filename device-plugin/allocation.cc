#include "device-plugin/allocation.h"

#include "device-plugin/cdi.h"
#include "lib/base/join.h"
#include "lib/json/value.h"
#include "lib/node/vf.h"

#include <algorithm>
#include <set>

namespace ibpod::device_plugin {
namespace {

using json::Value;

const PoolContents* find_pool(const std::vector<PoolContents>& all_contents,
                              const std::string& resource) {
  const auto found = std::find_if(
      all_contents.begin(), all_contents.end(),
      [&](const PoolContents& contents) { return contents.pool.resource() == resource; });
  return found == all_contents.end() ? nullptr : &*found;
}

const PoolDevice* find_device(const PoolContents& contents, const std::string& id) {
  const auto found =
      std::find_if(contents.devices.begin(), contents.devices.end(),
                   [&](const PoolDevice& pool_device) { return pool_device.id == id; });
  return found == contents.devices.end() ? nullptr : &*found;
}

Error no_device_error(const std::vector<PoolContents>& all_contents, const std::string& resource,
                      const std::string& id) {
  for (const PoolContents& contents : all_contents) {
    if (find_device(contents, id) != nullptr)
      return Error(Code::not_found, "device " + id + " belongs to " + contents.pool.resource() +
                                        ", not to " + resource);
  }
  return Error(Code::not_found, "device " + id + " is not offered by " + resource);
}

Status check(const PoolDevice& pool_device) {
  const Device& device = pool_device.device;
  if (!device.driver)
    return Error(Code::unavailable, "device " + pool_device.id + " has no driver");
  if (!pool_device.unhealthy.empty())
    return Error(Code::unavailable,
                 "device " + pool_device.id + " is unhealthy: " + pool_device.unhealthy);
  if (device.driver == node::kVfio && !device.iommu_group)
    return Error(Code::unavailable,
                 "device " + pool_device.id + " uses vfio-pci but has no IOMMU group");
  return ok();
}

Result<std::vector<const PoolDevice*>> find_all(const std::vector<PoolContents>& all_contents,
                                                const PoolContents& contents,
                                                const std::vector<std::string>& ids) {
  const std::set<std::string> sorted(ids.begin(), ids.end());
  if (sorted.empty() || sorted.size() != ids.size())
    return Error(Code::invalid,
                 "expected one or more distinct IDs, got \"" + join(ids, ",") + "\"");
  std::vector<const PoolDevice*> pool_devices;
  for (const std::string& id : sorted) {
    const PoolDevice* pool_device = find_device(contents, id);
    if (pool_device == nullptr) return no_device_error(all_contents, contents.pool.resource(), id);
    TRY(check(*pool_device));
    pool_devices.push_back(pool_device);
  }
  return pool_devices;
}

std::string path_of_node(const std::string& name) { return "/dev/infiniband/" + name; }

Value rdma_info(const Pool& pool, const Device& device) {
  Value info = Value::object();
  for (const std::string& name : pool.device_nodes) {
    const std::vector<std::string> nodes =
        name == "rdma_cm" ? std::vector<std::string>{name} : char_devices_of(device, name);
    if (!nodes.empty()) info.set(name, join(nodes, ",", path_of_node));
  }
  std::vector<std::string> names;
  for (const RdmaDevice& rdma : device.rdma) names.push_back(rdma.name);
  if (!names.empty()) info.set("rdma_dev", join(names, ","));
  return info;
}

Value vfio_info(const Device& device) {
  return Value::object()
      .set("mount", "/dev/vfio/vfio")
      .set("dev-mount", "/dev/vfio/" + std::to_string(device.iommu_group.value_or(0)));
}

void add_extra(const Pool& pool, const PoolDevice& pool_device, Value& info) {
  std::map<std::string, std::string> extra;
  for (const std::string& key : {pool_device.device.address.text(), std::string("*")}) {
    const auto found = pool.additional_info.find(key);
    if (found != pool.additional_info.end())
      extra.insert(found->second.begin(), found->second.end());
  }
  if (extra.empty()) return;
  Value object = Value::object();
  for (const auto& [name, text] : extra) object.set(name, text);
  info.set("extra", object);
}

Value info_of(const Pool& pool, const PoolDevice& pool_device) {
  Value info = Value::object();
  info.set("generic", Value::object().set("deviceID", pool_device.id));
  if (pool.kind == PoolKind::ipoib_slot)
    info.set("ipoib", Value::object()
                          .set("master", pool_device.device.pf_name)
                          .set("pf", pool_device.device.address.text()));
  else if (pool_device.device.driver == node::kVfio)
    info.set("vfio", vfio_info(pool_device.device));
  else if (!device_nodes_of(pool, pool_device).empty())
    info.set("rdma", rdma_info(pool, pool_device.device));
  add_extra(pool, pool_device, info);
  return info;
}

void add_nodes(const Pool& pool, const PoolDevice& pool_device, AllocateResponse& answer) {
  if (const std::string name = cdi_name(pool, pool_device); !name.empty()) {
    answer.cdi_devices.push_back(name);
    return;
  }
  for (DeviceNode& node : device_nodes_of(pool, pool_device)) {
    const auto& given = answer.device_nodes;
    if (std::find(given.begin(), given.end(), node) == given.end())
      answer.device_nodes.push_back(std::move(node));
  }
}

}  // namespace

Result<AllocateResponse> allocate(const std::vector<PoolContents>& all_contents,
                                  const std::string& resource,
                                  const std::vector<std::string>& ids) {
  const PoolContents* contents = find_pool(all_contents, resource);
  if (contents == nullptr) return Error(Code::not_found, "no such pool: " + resource);
  const std::vector<const PoolDevice*> pool_devices = TRY(find_all(all_contents, *contents, ids));
  AllocateResponse answer;
  Value info = Value::object();
  std::vector<std::string> list;
  for (const PoolDevice* pool_device : pool_devices) {
    list.push_back(pool_device->id);
    info.set(pool_device->id, info_of(contents->pool, *pool_device));
    add_nodes(contents->pool, *pool_device, answer);
  }
  const std::string variable = variable_of(resource);
  answer.envs[variable] = join(list, ",");
  answer.envs[variable + "_INFO"] = info.text();
  return answer;
}

}  // namespace ibpod::device_plugin
