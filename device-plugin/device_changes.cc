#include "device-plugin/inventory.h"
#include "lib/base/join.h"

#include <map>

namespace ibpod::device_plugin {
namespace {

// The facts about a device, each under a name that stays the same.
using Facts = std::map<std::string, std::string>;

void add(Facts& facts, const std::string& name, const std::string& value) {
  if (!value.empty()) facts.emplace(name, value);
}

std::string guid_text(ib::Guid guid) { return guid.none() ? "" : guid.text(); }

void add_ports(Facts& facts, const RdmaDevice& rdma) {
  for (size_t i = 0; i < rdma.ports.size(); ++i) {
    const ib::Port& port = rdma.ports[i];
    const std::string words = "port " + std::to_string(i + 1) + " of " + rdma.name;
    add(facts, words, std::string(ib::name(port.state)));
    add(facts, words + ": GUID", guid_text(port.guid));
    add(facts, words + ": P_Keys", port.pkeys.empty() ? "" : ib::text(port.pkeys));
  }
}

Facts facts_of(const Device& device) {
  Facts facts;
  add(facts, "driver", device.driver.value_or(""));
  if (!device.pf) add(facts, "VFs", std::to_string(device.vfs));
  if (!device.pf) add(facts, "link", device.pf_up ? "up" : "down");
  add(facts, "link type", device.link_type);
  add(facts, "interfaces", join(device.netdevs, " "));
  add(facts, "character devices", join(device.char_devices, " "));
  add(facts, "needed by the host", device.host_use);
  add(facts, "attachment", device.attachment);
  add(facts, "quarantine", device.quarantine);
  add(facts, "read error", device.rdma_error);
  for (const RdmaDevice& rdma : device.rdma) {
    add(facts, rdma.name, "there");
    add(facts, rdma.name + ": node GUID", guid_text(rdma.node_guid));
    add_ports(facts, rdma);
  }
  return facts;
}

std::string value_in(const Facts& facts, const std::string& name) {
  const auto fact = facts.find(name);
  return fact == facts.end() ? "none" : fact->second;
}

void compare(const Device& before, const Device& after, std::vector<std::string>& lines) {
  if (before == after) return;
  const Facts then = facts_of(before);
  const Facts now = facts_of(after);
  Facts all = then;
  all.insert(now.begin(), now.end());
  for (const auto& [name, ignored] : all) {
    const std::string was = value_in(then, name);
    const std::string is = value_in(now, name);
    if (was != is) lines.push_back(after.address.text() + ": " + name + ": " + was + " -> " + is);
  }
}

std::string description(const Device& device) {
  if (!device.pf) return "a PF with " + std::to_string(device.vfs) + " VFs";
  return "VF " + std::to_string(device.vf) + " of " + device.pf->text();
}

}  // namespace

std::vector<std::string> describe_changes(const std::vector<Device>& before,
                                          const std::vector<Device>& after) {
  std::vector<std::string> lines;
  auto was = before.begin();
  auto is = after.begin();
  while (was != before.end() || is != after.end()) {
    if (is == after.end() || (was != before.end() && was->address < is->address)) {
      lines.push_back(was++->address.text() + " is gone");
    } else if (was == before.end() || is->address < was->address) {
      lines.push_back(is->address.text() + " has appeared: " + description(*is));
      ++is;
    } else {
      compare(*was++, *is++, lines);
    }
  }
  return lines;
}

}  // namespace ibpod::device_plugin
