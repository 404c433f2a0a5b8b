#include "device-plugin/pool.h"

#include "lib/base/join.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

std::string selector_path(size_t selector) { return "selectors[" + std::to_string(selector) + "]"; }

// A fault that no selector can correct; empty: none.
std::string unfit_reason(const Pool& pool, const Device& device) {
  if (pool.kind == PoolKind::foreign) return "deviceType: devices of this type are not supported";
  if (pool.kind == PoolKind::ipoib_slot) {
    if (device.pf) return "deviceType: IPoIB children need a PF, and this is a VF";
    if (device.link_type != "infiniband") return "deviceType: it needs an InfiniBand port";
    return device.pf_name.empty() ? "deviceType: it has no IPoIB interface" : "";
  }
  if (!device.host_use.empty()) return "the host needs it: " + device.host_use;
  if (device.pf) return "";
  if (device.vfs > 0) return "it is a PF with " + std::to_string(device.vfs) + " VFs";
  const bool named = std::any_of(
      pool.selectors.begin(), pool.selectors.end(),
      [&](const Selector& selector) { return names_address(selector, device.address); });
  return named ? "" : "it is a PF, and no pciAddresses names it";
}

MatchResult try_selector(const Pool& pool, const Device& device, size_t number) {
  const Selector& selector = pool.selectors[number];
  const bool by_name = pool.kind == PoolKind::device && !device.pf;
  if (by_name && !names_address(selector, device.address))
    return {false, 0,
            selector_path(number) + ": it is a PF, and its pciAddresses does not name it"};
  const std::optional<Mismatch> found = mismatch(selector, device);
  if (!found) return {true, number, ""};
  return {false, 0,
          selector_path(number) + "." + found->field + ": expected " + found->expected +
              ", found " + found->found};
}

void add_ipoib_slots(PoolContents& contents, const Device& device, size_t selector) {
  for (uint32_t n = 0; n < contents.pool.ipoib_slots; ++n)
    contents.devices.push_back(
        {device.address.text() + "-" + std::to_string(n), device, selector, ""});
}

void add(PoolContents& contents, const Device& device, size_t selector) {
  if (contents.pool.kind == PoolKind::ipoib_slot)
    add_ipoib_slots(contents, device, selector);
  else
    contents.devices.push_back({device.address.text(), device, selector, ""});
}

bool assign_allocated(std::vector<PoolContents>& all_contents, const Device& device,
                      const Allocated& allocated) {
  const auto holder = allocated.find(device.address);
  if (holder == allocated.end() || !device.host_use.empty()) return false;
  for (PoolContents& contents : all_contents) {
    if (contents.pool.resource() != holder->second || contents.pool.kind != PoolKind::device)
      continue;
    add(contents, device, match(contents.pool, device).selector);
    return true;
  }
  return false;
}

}  // namespace

std::string variable_of(std::string_view resource) {
  std::string name = "PCIDEVICE_";
  for (const char c : resource) {
    const bool lower = c >= 'a' && c <= 'z';
    if (c == '.' || c == '/')
      name += '_';
    else
      name += lower ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return name;
}

MatchResult match(const Pool& pool, const Device& device) {
  const std::string reason = unfit_reason(pool, device);
  if (!reason.empty()) return {false, 0, reason};
  if (pool.selectors.empty()) return {true, 0, ""};
  std::string reasons;
  for (size_t number = 0; number < pool.selectors.size(); ++number) {
    const MatchResult answer = try_selector(pool, device, number);
    if (answer.matches) return answer;
    add_item(reasons, "; ", answer.reason);
  }
  return {false, 0, reasons};
}

std::vector<PoolContents> assign(const std::vector<Pool>& pools, const std::vector<Device>& devices,
                                 const Allocated& allocated) {
  std::vector<PoolContents> all_contents;
  for (const Pool& pool : pools) all_contents.push_back({pool, {}});
  std::vector<Device> sorted = devices;
  std::sort(sorted.begin(), sorted.end(),
            [](const Device& a, const Device& b) { return a.address < b.address; });
  for (const Device& device : sorted) {
    if (assign_allocated(all_contents, device, allocated)) continue;
    for (PoolContents& contents : all_contents) {
      const MatchResult answer = match(contents.pool, device);
      if (!answer.matches) continue;
      add(contents, device, answer.selector);
      break;
    }
  }
  return all_contents;
}

}  // namespace ibpod::device_plugin
