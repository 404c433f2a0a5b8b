#include "tests/support/multus/network_status.h"

#include "lib/cni/result.h"

#include <algorithm>

namespace ibpod::multus {

using json::Value;

Result<Value> network_status(const Delegate& delegate, const std::optional<Value>& device_info) {
  const cni::AddResult result =
      TRY(cni::parse_result(delegate.result.value_or(Value::object())).during(delegate.name));
  Value status = Value::object();
  status.set("name", delegate.name).set("dns", result.dns.is_null() ? Value::object() : result.dns);
  const auto inside = std::find_if(result.interfaces.begin(), result.interfaces.end(),
                                   [](const auto& each) { return !each.sandbox.empty(); });
  if (inside != result.interfaces.end()) {
    status.set("interface", inside->name).set("mac", inside->mac);
    if (inside->mtu) status.set("mtu", *inside->mtu);
  }
  Value ips = Value::array();
  for (const cni::IpConfig& ip : result.ips) ips.push(ip.address.address.text());
  if (!result.ips.empty()) status.set("ips", ips);
  if (delegate.is_default) status.set("default", true);
  if (device_info) status.set("device-info", *device_info);
  return status;
}

}  // namespace ibpod::multus
