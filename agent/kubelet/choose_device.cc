#include "agent/kubelet/choose_device.h"

#include "lib/base/join.h"

#include <algorithm>
#include <set>

namespace ibpod::agent::kubelet {

Result<std::string> choose_device(const std::vector<std::string>& ids, const Holders& holders,
                                  const Holder& asker) {
  std::set<ib::PciAddress> given;
  for (const std::string& id : ids) {
    Result<ib::PciAddress> address = ib::PciAddress::parse(id);
    if (!address)
      return Error(Code::internal,
                   "the kubelet names an invalid device: " + address.error().text());
    given.insert(*std::move(address));
  }
  std::string held, free, awaited;
  for (const ib::PciAddress& device : given) {
    const auto found = holders.find(device);
    if (found == holders.end() || found->second.empty()) {
      if (free.empty()) free = device.text();
      continue;
    }
    const std::vector<Holder>& those = found->second;
    const auto holds = [&](std::string Holder::*what) {
      return std::any_of(those.begin(), those.end(),
                         [&](const Holder& one) { return one.*what == asker.*what; });
    };
    if (holds(&Holder::attachment)) return device.text();
    if (!holds(&Holder::pod) && awaited.empty()) awaited = device.text();
    add_item(held, ", ", device.text() + " by " + those.front().attachment);
  }
  if (!free.empty() || given.empty()) return free;
  if (!awaited.empty()) return awaited;
  return Error(Code::unavailable, "the pod's devices are still held by other attachments: " + held);
}

}  // namespace ibpod::agent::kubelet
