#include "device-plugin/device_info.h"

#include "lib/json/value.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

using json::Value;
using Given = std::vector<std::pair<ib::PciAddress, std::string>>;

constexpr std::string_view kEnding = "-device.json";
// A member of ours; readers of the specification pass over it.
constexpr std::string_view kOurs = "ibpod";

std::string beginning(std::string resource) {
  std::replace(resource.begin(), resource.end(), '/', '-');
  return resource + "-";
}

Value pci_of(const Device& device) {
  Value pci = Value::object().set("pci-address", device.address.text());
  std::string names;
  for (const RdmaDevice& rdma : device.rdma) names += (names.empty() ? "" : ",") + rdma.name;
  if (!names.empty()) pci.set("rdma-device", names);
  if (device.pf) pci.set("pf-pci-address", device.pf->text());
  return pci;
}

Value ours_of(const Pool& pool, const Offer& offer) {
  Value nodes = Value::array();
  for (const DeviceNode& node : nodes_of(pool, offer)) nodes.push(node.path);
  return Value::object()
      .set("resource", pool.resource())
      .set("device", offer.id)
      .set("nodes", nodes);
}

// What the file says that is ours; nothing where there is no file, or another's.
Result<std::optional<Value>> read_ours(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text && text.error().code() == Code::not_found) return std::optional<Value>();
  if (!text) return text.error();
  const Value document = TRY(Value::parse(*text).during(file.string()));
  return document.find(kOurs);
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

Result<std::pair<ib::PciAddress, std::string>> parse_given(const Value& ours) {
  const Value device = TRY(ours.at("device"));
  const std::string id = TRY(device.string());
  const ib::PciAddress address = TRY(ib::PciAddress::parse(id));
  const Value resource = TRY(ours.at("resource"));
  const std::string name = TRY(resource.string());
  return std::pair(address, name);
}

Result<Given> read_all(const Path& folder) {
  const std::vector<std::string> names = TRY(list_folder(folder));
  Given all;
  for (const std::string& name : names) {
    if (!name.ends_with(kEnding)) continue;
    const auto ours = read_ours(folder / name);
    // What is damaged says nothing of anybody; what cannot be read may.
    if (!ours && ours.error().error_number() != 0) return ours.error();
    if (!ours || !*ours) continue;
    const auto given = parse_given(**ours);
    if (given) all.push_back(*given);
  }
  return all;
}

// By an earlier resource of the device, nobody has it any more: what is left of that one would be
// taken for the device's in given_out().
Status remove_earlier(const Path& folder, const Pool& pool, const Offer& offer,
                      const std::set<std::string>& resources) {
  const Path present = device_info_file(folder, pool.resource(), offer.id);
  Errors errors;
  for (const std::string& resource : resources) {
    const Path file = device_info_file(folder, resource, offer.id);
    if (file == present) continue;
    const auto ours = read_ours(file);
    if (!ours || !*ours) continue;
    const auto given = parse_given(**ours);
    if (given && given->first == offer.device.address) errors.collect(remove_file(file));
  }
  return errors.status();
}

}  // namespace

Path device_info_file(const Path& folder, const std::string& resource, const std::string& id) {
  return folder / (beginning(resource) + id + std::string(kEnding));
}

Status write_device_info(const Path& folder, const Pool& pool, const Offer& offer,
                         const std::set<std::string>& resources) {
  if (pool.kind != Kind::device) return ok();
  TRY(make_folders(folder));
  TRY(remove_earlier(folder, pool, offer, resources));
  Value document = Value::object().set("type", "pci").set("version", "1.1.0");
  document.set("pci", pci_of(offer.device)).set(kOurs, ours_of(pool, offer));
  return write_file_atomically(device_info_file(folder, pool.resource(), offer.id),
                               document.pretty() + "\n");
}

Result<std::optional<std::vector<std::string>>> granted_nodes(const Path& folder,
                                                              const std::string& resource,
                                                              const std::string& id) {
  const Path file = device_info_file(folder, resource, id);
  const std::optional<Value> ours = TRY(read_ours(file));
  if (!ours) return std::optional<std::vector<std::string>>();
  const Value list = TRY(ours->at("nodes").during(file.string()));
  std::vector<std::string> nodes = TRY(strings(list).during(file.string()));
  return std::optional(std::move(nodes));
}

Result<Held> given_out(const Path& folder) {
  const Given all = TRY(read_all(folder));
  return Held(all.begin(), all.end());
}

Result<std::set<std::string>> resources_given_out(const Path& folder) {
  const Given all = TRY(read_all(folder));
  std::set<std::string> resources;
  for (const auto& [device, resource] : all) resources.insert(resource);
  return resources;
}

Status tidy_device_info(const Path& folder, const std::string& resource,
                        const std::set<ib::PciAddress>& in_use) {
  const std::vector<std::string> names = TRY(list_folder(folder));
  const std::string start = beginning(resource);
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
