#include "device-plugin/pool.h"

#include <algorithm>

namespace ibpod::device_plugin {
namespace {

std::string place_of(size_t selector) { return "selectors[" + std::to_string(selector) + "]"; }

// What no selector can make good; empty: nothing.
std::string unfit(const Pool& pool, const Device& device) {
  if (pool.kind == Kind::foreign) return "deviceType: such devices are not offered here";
  if (pool.kind == Kind::ticket) {
    if (device.pf) return "deviceType: a VF is no HCA to make IPoIB children on";
    if (device.link_type != "infiniband") return "deviceType: wants an InfiniBand port";
    return device.pf_name.empty() ? "deviceType: it has no IPoIB interface" : "";
  }
  if (!device.host_use.empty()) return "the host needs it: " + device.host_use;
  if (device.pf) return "";
  if (device.vfs > 0) return "it is a PF with " + std::to_string(device.vfs) + " VFs";
  const bool named =
      std::any_of(pool.selectors.begin(), pool.selectors.end(),
                  [&](const Selector& selector) { return names(selector, device.address); });
  return named ? "" : "it is a PF, and no pciAddresses names it";
}

Answered try_selector(const Pool& pool, const Device& device, size_t number) {
  const Selector& selector = pool.selectors[number];
  const bool by_name = pool.kind == Kind::device && !device.pf;
  if (by_name && !names(selector, device.address))
    return {false, 0, place_of(number) + ": it is a PF, and its pciAddresses does not name it"};
  const std::optional<Mismatch> found = mismatch(selector, device);
  if (!found) return {true, number, ""};
  return {false, 0,
          place_of(number) + "." + found->field + ": wants " + found->wanted + ", found " +
              found->found};
}

void add_tickets(Stock& stock, const Device& device, size_t selector) {
  for (uint32_t n = 0; n < stock.pool.tickets; ++n)
    stock.offers.push_back({device.address.text() + "-" + std::to_string(n), device, selector, ""});
}

void add(Stock& stock, const Device& device, size_t selector) {
  if (stock.pool.kind == Kind::ticket)
    add_tickets(stock, device, selector);
  else
    stock.offers.push_back({device.address.text(), device, selector, ""});
}

bool give_to_holder(std::vector<Stock>& stocks, const Device& device, const Held& held) {
  const auto holder = held.find(device.address);
  if (holder == held.end() || !device.host_use.empty()) return false;
  for (Stock& stock : stocks) {
    if (stock.pool.resource() != holder->second || stock.pool.kind != Kind::device) continue;
    add(stock, device, ask(stock.pool, device).selector);
    return true;
  }
  return false;
}

}  // namespace

Answered ask(const Pool& pool, const Device& device) {
  const std::string reason = unfit(pool, device);
  if (!reason.empty()) return {false, 0, reason};
  if (pool.selectors.empty()) return {true, 0, ""};
  std::string reasons;
  for (size_t number = 0; number < pool.selectors.size(); ++number) {
    const Answered answer = try_selector(pool, device, number);
    if (answer.takes) return answer;
    reasons += (reasons.empty() ? "" : "; ") + answer.reason;
  }
  return {false, 0, reasons};
}

std::vector<Stock> deal(const std::vector<Pool>& pools, const std::vector<Device>& devices,
                        const Held& held) {
  std::vector<Stock> stocks;
  for (const Pool& pool : pools) stocks.push_back({pool, {}});
  std::vector<Device> sorted = devices;
  std::sort(sorted.begin(), sorted.end(),
            [](const Device& a, const Device& b) { return a.address < b.address; });
  for (const Device& device : sorted) {
    if (give_to_holder(stocks, device, held)) continue;
    for (Stock& stock : stocks) {
      const Answered answer = ask(stock.pool, device);
      if (!answer.takes) continue;
      add(stock, device, answer.selector);
      break;
    }
  }
  return stocks;
}

}  // namespace ibpod::device_plugin
