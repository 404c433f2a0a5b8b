#include "agent/device_of.h"

#include <algorithm>
#include <set>

namespace ibpod::agent {

Result<std::string> choose_device(const std::vector<std::string>& ids, const Holders& holders,
                                  const std::string& asker) {
  std::set<ib::PciAddress> given;
  for (const std::string& id : ids) {
    Result<ib::PciAddress> address = ib::PciAddress::parse(id);
    if (!address)
      return Error(Code::internal, "the kubelet names the device " + address.error().text());
    given.insert(*std::move(address));
  }
  std::string held_by, free;
  for (const ib::PciAddress& device : given) {
    const auto found = holders.find(device);
    if (found == holders.end() || found->second.empty()) {
      if (free.empty()) free = device.text();
      continue;
    }
    const std::vector<std::string>& those = found->second;
    if (std::find(those.begin(), those.end(), asker) != those.end()) return device.text();
    held_by += (held_by.empty() ? "" : ", ") + device.text() + " by " + those.front();
  }
  if (!free.empty() || given.empty()) return free;
  return Error(Code::unavailable,
               "the pod's devices are still held by other attachments: " + held_by);
}

}  // namespace ibpod::agent
