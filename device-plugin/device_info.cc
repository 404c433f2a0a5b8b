#include "device-plugin/device_info.h"

#include "lib/base/join.h"
#include "lib/node/device_info.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

using json::Value;
using AllocatedDevices = std::vector<std::pair<ib::PciAddress, std::string>>;

constexpr std::string_view kEnding = "-device.json";
// A member of ours; readers of the specification pass over it.
constexpr std::string_view kMember = "ibpod";

std::string file_prefix(std::string resource) {
  std::replace(resource.begin(), resource.end(), '/', '-');
  return resource + "-";
}

Value member_of(const Pool& pool, const PoolDevice& pool_device) {
  Value nodes = Value::array();
  for (const DeviceNode& node : device_nodes_of(pool, pool_device)) nodes.push(node.path);
  return Value::object()
      .set("resource", pool.resource())
      .set("device", pool_device.id)
      .set("nodes", nodes);
}

// Our member of the file; nothing if there is no file, or another program's.
Result<std::optional<Value>> read_member(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text && text.error().code() == Code::not_found) return std::optional<Value>();
  if (!text) return text.error();
  const Value document = TRY(Value::parse(*text).during(file.string()));
  return document.find(kMember);
}

Result<std::vector<std::string>> strings(const Value& list) {
  std::vector<std::string> found;
  const std::vector<Value> elements = TRY(list.elements());
  for (const Value& element : elements) {
    std::string text = TRY(element.string());
    found.push_back(std::move(text));
  }
  return found;
}

Result<std::pair<ib::PciAddress, std::string>> parse_allocated(const Value& ours) {
  const Value device = TRY(ours.at("device"));
  const std::string id = TRY(device.string());
  const ib::PciAddress address = TRY(ib::PciAddress::parse(id));
  const Value resource = TRY(ours.at("resource"));
  const std::string name = TRY(resource.string());
  return std::pair(address, name);
}

Result<AllocatedDevices> read_all(const Path& folder) {
  const std::vector<std::string> names = TRY(list_folder(folder));
  AllocatedDevices all;
  for (const std::string& name : names) {
    if (!name.ends_with(kEnding)) continue;
    const auto ours = read_member(folder / name);
    // A damaged file names no owner; an unreadable one may.
    if (!ours && ours.error().error_number() != 0) return ours.error();
    if (!ours || !*ours) continue;
    const auto given = parse_allocated(**ours);
    if (given) all.push_back(*given);
  }
  return all;
}

// Removes the files of the device under its earlier resources: no pod has it under one any more,
// and read_allocated() would take such a file for the device's.
Status remove_earlier(const Path& folder, const Pool& pool, const PoolDevice& pool_device,
                      const std::set<std::string>& resources) {
  const Path present = device_info_file(folder, pool.resource(), pool_device.id);
  Errors errors;
  for (const std::string& resource : resources) {
    const Path file = device_info_file(folder, resource, pool_device.id);
    if (file == present) continue;
    const auto ours = read_member(file);
    if (!ours || !*ours) continue;
    const auto given = parse_allocated(**ours);
    if (given && given->first == pool_device.device.address) errors.collect(remove_file(file));
  }
  return errors.status();
}

}  // namespace

Path device_info_file(const Path& folder, const std::string& resource, const std::string& id) {
  return folder / (file_prefix(resource) + id + std::string(kEnding));
}

Status write_allocated(const Path& folder, const Pool& pool, const PoolDevice& pool_device,
                       const std::set<std::string>& resources) {
  if (pool.kind != PoolKind::device) return ok();
  TRY(remove_earlier(folder, pool, pool_device, resources));
  const Device& device = pool_device.device;
  node::DeviceInfo info;
  info.set_device(device.address, join(device.rdma, ",", &RdmaDevice::name));
  if (device.pf) info.pci.set("pf-pci-address", device.pf->text());
  info.document.set(kMember, member_of(pool, pool_device));
  return node::write_device_info(device_info_file(folder, pool.resource(), pool_device.id), info);
}

Result<std::optional<std::vector<std::string>>> granted_nodes(const Path& folder,
                                                              const std::string& resource,
                                                              const std::string& id) {
  const Path file = device_info_file(folder, resource, id);
  const std::optional<Value> ours = TRY(read_member(file));
  if (!ours) return std::optional<std::vector<std::string>>();
  const Value list = TRY(ours->at("nodes").during(file.string()));
  std::vector<std::string> nodes = TRY(strings(list).during(file.string()));
  return std::optional(std::move(nodes));
}

Result<Allocated> read_allocated(const Path& folder) {
  const AllocatedDevices all = TRY(read_all(folder));
  return Allocated(all.begin(), all.end());
}

Result<std::set<std::string>> allocated_resources(const Path& folder) {
  const AllocatedDevices all = TRY(read_all(folder));
  std::set<std::string> resources;
  for (const auto& [device, resource] : all) resources.insert(resource);
  return resources;
}

Status tidy_device_info(const Path& folder, const std::string& resource,
                        const std::set<ib::PciAddress>& in_use) {
  const std::vector<std::string> names = TRY(list_folder(folder));
  const std::string start = file_prefix(resource);
  Errors errors;
  for (const std::string& name : names) {
    if (!name.starts_with(start) || !name.ends_with(kEnding)) continue;
    if (name.size() < start.size() + kEnding.size()) continue;
    const size_t length = name.size() - start.size() - kEnding.size();
    const auto device = ib::PciAddress::parse(name.substr(start.size(), length));
    if (device && in_use.count(*device) == 0) errors.collect(remove_file(folder / name));
  }
  return errors.status();
}

}  // namespace ibpod::device_plugin
