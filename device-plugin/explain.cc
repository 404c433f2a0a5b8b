#include "device-plugin/explain.h"

namespace ibpod::device_plugin {
namespace {

void note(std::vector<std::string>& notes, const char* what, const std::string& reason) {
  if (!reason.empty()) notes.push_back(what + reason);
}

bool is_held(const Held& held, const Device& device, const std::string& resource) {
  const auto holder = held.find(device.address);
  return holder != held.end() && holder->second == resource;
}

Choice choice(const Pool& pool, const Device& device, const std::string& owner, bool held) {
  Choice made{pool.resource(), pool.resource() == owner, ""};
  const Answered answer = ask(pool, device);
  if (!answer.takes)
    made.reason =
        made.has_it ? "a pod has it from this pool; else: " + answer.reason : answer.reason;
  else if (made.has_it)
    made.reason = pool.selectors.empty() ? "the pool takes every such device"
                                         : "by selectors[" + std::to_string(answer.selector) + "]";
  else
    made.reason =
        "it is in " + owner + (held ? ", which a pod has it from" : ", which comes first");
  return made;
}

}  // namespace

Explanation explain(const std::vector<Pool>& pools, const Device& device, const Held& held) {
  Explanation made;
  made.device = device.address.text();
  for (const Stock& stock : deal(pools, {device}, held)) {
    if (!stock.offers.empty()) made.resource = stock.pool.resource();
  }
  note(made.notes, "the host needs it: ", device.host_use);
  note(made.notes, "in quarantine: ", device.quarantine);
  note(made.notes, "in use: ", device.attachment);
  const bool is_kept = is_held(held, device, made.resource);
  for (const Pool& pool : pools) made.pools.push_back(choice(pool, device, made.resource, is_kept));
  return made;
}

std::string Explanation::text() const {
  std::string text = device + ": " + (resource.empty() ? "in no pool" : "in " + resource) + "\n";
  for (const std::string& line : notes) text += "  " + line + "\n";
  for (const Choice& pool : pools)
    text += "  " + pool.resource + (pool.has_it ? ": in: " : ": not in: ") + pool.reason + "\n";
  return text;
}

}  // namespace ibpod::device_plugin
