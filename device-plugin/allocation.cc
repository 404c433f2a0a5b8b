#include "device-plugin/allocation.h"

#include "device-plugin/cdi.h"
#include "device-plugin/resource_name.h"
#include "lib/json/value.h"
#include "lib/node/vf.h"

#include <algorithm>
#include <set>

namespace ibpod::device_plugin {
namespace {

using json::Value;

std::string joined(const std::vector<std::string>& parts, const std::string& before = "") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + before + part;
  return text;
}

const Stock* find_stock(const std::vector<Stock>& stocks, const std::string& resource) {
  const auto found = std::find_if(stocks.begin(), stocks.end(), [&](const Stock& stock) {
    return stock.pool.resource() == resource;
  });
  return found == stocks.end() ? nullptr : &*found;
}

const Offer* find_offer(const Stock& stock, const std::string& id) {
  const auto found = std::find_if(stock.offers.begin(), stock.offers.end(),
                                  [&](const Offer& offer) { return offer.id == id; });
  return found == stock.offers.end() ? nullptr : &*found;
}

Error no_offer(const std::vector<Stock>& stocks, const std::string& resource,
               const std::string& id) {
  for (const Stock& stock : stocks) {
    if (find_offer(stock, id) != nullptr)
      return Error(Code::not_found, "device " + id + " belongs to " + stock.pool.resource() +
                                        ", not to " + resource);
  }
  return Error(Code::not_found, "device " + id + " is not offered by " + resource);
}

Status check(const Offer& offer) {
  const Device& device = offer.device;
  if (!device.driver) return Error(Code::unavailable, "device " + offer.id + " has no driver");
  if (!offer.unhealthy.empty())
    return Error(Code::unavailable, "device " + offer.id + " is unhealthy: " + offer.unhealthy);
  if (device.driver == node::kVfio && !device.iommu_group)
    return Error(Code::unavailable,
                 "device " + offer.id + " is on vfio-pci and has no IOMMU group");
  return ok();
}

Result<std::vector<const Offer*>> find_all(const std::vector<Stock>& stocks, const Stock& stock,
                                           const std::vector<std::string>& ids) {
  const std::set<std::string> sorted(ids.begin(), ids.end());
  if (sorted.empty() || sorted.size() != ids.size())
    return Error(Code::invalid, "expected one ID or more, each once, got \"" + joined(ids) + "\"");
  std::vector<const Offer*> offers;
  for (const std::string& id : sorted) {
    const Offer* offer = find_offer(stock, id);
    if (offer == nullptr) return no_offer(stocks, stock.pool.resource(), id);
    TRY(check(*offer));
    offers.push_back(offer);
  }
  return offers;
}

Value rdma_info(const Pool& pool, const Device& device) {
  Value info = Value::object();
  for (const std::string& name : pool.device_nodes) {
    const std::vector<std::string> nodes =
        name == "rdma_cm" ? std::vector<std::string>{name} : of_class(device, name);
    if (!nodes.empty()) info.set(name, joined(nodes, "/dev/infiniband/"));
  }
  std::vector<std::string> names;
  for (const RdmaDevice& rdma : device.rdma) names.push_back(rdma.name);
  if (!names.empty()) info.set("rdma_dev", joined(names));
  return info;
}

Value vfio_info(const Device& device) {
  return Value::object()
      .set("mount", "/dev/vfio/vfio")
      .set("dev-mount", "/dev/vfio/" + std::to_string(device.iommu_group.value_or(0)));
}

void add_extra(const Pool& pool, const Offer& offer, Value& info) {
  std::map<std::string, std::string> extra;
  for (const std::string& key : {offer.device.address.text(), std::string("*")}) {
    const auto found = pool.additional_info.find(key);
    if (found != pool.additional_info.end())
      extra.insert(found->second.begin(), found->second.end());
  }
  if (extra.empty()) return;
  Value object = Value::object();
  for (const auto& [name, text] : extra) object.set(name, text);
  info.set("extra", object);
}

Value info_of(const Pool& pool, const Offer& offer) {
  Value info = Value::object();
  info.set("generic", Value::object().set("deviceID", offer.id));
  if (pool.kind == Kind::ticket)
    info.set(
        "ipoib",
        Value::object().set("master", offer.device.pf_name).set("pf", offer.device.address.text()));
  else if (offer.device.driver == node::kVfio)
    info.set("vfio", vfio_info(offer.device));
  else if (!nodes_of(pool, offer).empty())
    info.set("rdma", rdma_info(pool, offer.device));
  add_extra(pool, offer, info);
  return info;
}

void add_nodes(const Pool& pool, const Offer& offer, Answer& answer) {
  if (const std::string name = cdi_name(pool, offer); !name.empty()) {
    answer.cdi_devices.push_back(name);
    return;
  }
  for (DeviceNode& node : nodes_of(pool, offer)) {
    const auto& given = answer.device_nodes;
    if (std::find(given.begin(), given.end(), node) == given.end())
      answer.device_nodes.push_back(std::move(node));
  }
}

}  // namespace

Result<Answer> allocate(const std::vector<Stock>& stocks, const std::string& resource,
                        const std::vector<std::string>& ids) {
  const Stock* stock = find_stock(stocks, resource);
  if (stock == nullptr) return Error(Code::not_found, "there is no pool " + resource);
  const std::vector<const Offer*> offers = TRY(find_all(stocks, *stock, ids));
  Answer answer;
  Value info = Value::object();
  std::vector<std::string> list;
  for (const Offer* offer : offers) {
    list.push_back(offer->id);
    info.set(offer->id, info_of(stock->pool, *offer));
    add_nodes(stock->pool, *offer, answer);
  }
  const std::string variable = variable_of(resource);
  answer.envs[variable] = joined(list);
  answer.envs[variable + "_INFO"] = info.text();
  return answer;
}

}  // namespace ibpod::device_plugin
