#include "tests/support/multus/network_status.h"

#include "lib/cni/result.h"

namespace ibpod::multus {
namespace {

using json::Value;

// The addresses of that interface; of a result's only interface all.
Value addresses(const cni::AddResult& result, size_t place) {
  Value ips = Value::array();
  for (const cni::IpConfig& ip : result.ips) {
    const bool its = result.interfaces.size() == 1 || ip.interface == place;
    if (its) ips.push(ip.address.address.text());
  }
  return ips;
}

}  // namespace

Result<std::vector<Value>> network_statuses(const Delegate& delegate,
                                            const std::optional<Value>& device_info) {
  const cni::AddResult result =
      TRY(cni::parse_result(delegate.result.value_or(Value::object())).during(delegate.name));
  std::vector<Value> statuses;
  for (size_t place = 0; place < result.interfaces.size(); ++place) {
    const cni::Interface& interface = result.interfaces[place];
    if (interface.sandbox.empty()) continue;
    Value status = Value::object();
    status.set("name", delegate.name).set("interface", interface.name);
    const Value ips = addresses(result, place);
    if (ips.text() != "[]") status.set("ips", ips);
    if (!interface.mac.empty()) status.set("mac", interface.mac);
    if (interface.mtu) status.set("mtu", *interface.mtu);
    if (delegate.is_default && statuses.empty()) status.set("default", true);
    status.set("dns", result.dns.is_null() ? Value::object() : result.dns);
    if (device_info) status.set("device-info", *device_info);
    statuses.push_back(std::move(status));
  }
  return statuses;
}

}  // namespace ibpod::multus
