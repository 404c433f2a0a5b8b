#include "agent/prepare/pf_config.h"

#include "lib/base/join.h"
#include "lib/base/nearest.h"
#include "lib/json/read.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

namespace ibpod::agent::prepare {
namespace {

using json::Value;

// Interfaces have at most 15 characters, their altnames 127 (ALTIFNAMSIZ, linux/if.h).
constexpr size_t kLongestName = 127;

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

Result<uint16_t> read_id(const Value& value) {
  const std::string text = TRY(value.string());
  std::string_view digits = text;
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  uint16_t id = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, id, 16);
  if (digits.size() == 4 && error == std::errc() && end == last) return id;
  return value.wrong(in_quotes(text) + " is not a PCI ID: expected 4 hex digits, such as \"15b3\"");
}

Result<ib::PciAddress> read_address(const Value& value) {
  const std::string text = TRY(value.string());
  const Result<ib::PciAddress> address = ib::PciAddress::parse(text);
  if (address) return *address;
  return value.wrong(address.error().text());
}

Result<std::string> read_name(const Value& value) {
  std::string text = TRY(value.string());
  if (text.find('#') != std::string::npos) {
    return value.wrong(in_quotes(text) +
                       " has a range of VFs, which is for pools only: expected "
                       "the PF's interface, such as \"ib0\"");
  }
  const bool bad = std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return c <= ' ' || c == '/' || c == ':' || c == 0x7f;
  });
  if (!text.empty() && text.size() <= kLongestName && !bad && text != "." && text != "..")
    return text;
  return value.wrong(in_quotes(text) +
                     " is not the name of an interface: expected one such as \"ib0\"");
}

// A list that is there is not empty, and names nothing twice.
template <typename Item>
Status read_list(const Value& value, Result<Item> (*read)(const Value&), std::vector<Item>& list) {
  const std::vector<Value> elements = TRY(value.elements());
  if (elements.empty()) return value.wrong("the list is empty: remove the key, or add an entry");
  for (const Value& element : elements) {
    Item item = TRY(read(element));
    if (std::find(list.begin(), list.end(), item) != list.end())
      return element.wrong(element.text() + " is listed twice");
    list.push_back(std::move(item));
  }
  return ok();
}

struct Key {
  const char* name;
  Status (*read)(const Value& value, PfConfig& config);
};

constexpr Key kKeys[] = {
    {"vendor",
     [](const Value& value, PfConfig& config) -> Status {
       config.vendor = TRY(read_id(value));
       return ok();
     }},
    {"deviceID",
     [](const Value& value, PfConfig& config) -> Status {
       config.device = TRY(read_id(value));
       return ok();
     }},
    {"rootDevices",
     [](const Value& value, PfConfig& config) {
       return read_list(value, read_address, config.root_devices);
     }},
    {"pfNames", [](const Value& value,
                   PfConfig& config) { return read_list(value, read_name, config.pf_names); }},
    {"numVfs",
     [](const Value& value, PfConfig& config) -> Status {
       const int64_t number = TRY(value.integer(0, kMostVfs));
       config.vfs = static_cast<uint32_t>(number);
       return ok();
     }},
    {"force",
     [](const Value& value, PfConfig& config) -> Status {
       config.force = TRY(value.boolean());
       return ok();
     }},
    {"guids",
     [](const Value& value, PfConfig& config) -> Status {
       config.pool_guids = TRY(json::read_word<bool>(value, {{"keep", false}, {"pool", true}}));
       return ok();
     }},
    {"allowHostUse",
     [](const Value& value, PfConfig& config) -> Status {
       config.allow_host_use = TRY(value.boolean());
       return ok();
     }},
};

std::string known_keys() { return join(kKeys, ", ", &Key::name); }

Status read_member(const std::string& name, const Value& value, PfConfig& config) {
  for (const Key& key : kKeys) {
    if (key.name == name) return key.read(value, config);
  }
  std::vector<std::string_view> known;
  for (const Key& key : kKeys) known.push_back(key.name);
  const std::string meant = is_meant(name, known);
  return value.wrong("unknown key" + (meant.empty() ? ", expected one of " + known_keys() : meant));
}

void read_entry(const Value& entry, PfConfigs& all) {
  const auto members = entry.members();
  if (!members) return all.errors.push_back(members.error());
  PfConfig config;
  config.path = entry.path();
  const size_t before = all.errors.size();
  for (const auto& [name, value] : *members) {
    const Status read = read_member(name, value, config);
    if (!read) all.errors.push_back(read.error());
  }
  if (all.errors.size() != before) return;
  if (!config.vendor && !config.device && config.root_devices.empty() && config.pf_names.empty()) {
    return all.errors.push_back(entry.wrong(
        "it selects no PF: set at least one of vendor, deviceID, rootDevices and pfNames"));
  }
  all.pfs.push_back(std::move(config));
}

bool has_name(const std::vector<node::Netdev>& netdevs, const std::string& name) {
  return std::any_of(netdevs.begin(), netdevs.end(), [&](const node::Netdev& netdev) {
    const auto& altnames = netdev.altnames;
    return !netdev.parent && (netdev.name == name ||
                              std::find(altnames.begin(), altnames.end(), name) != altnames.end());
  });
}

}  // namespace

PfConfigs parse_pf_configs(const Value& list) {
  PfConfigs all;
  const auto entries = list.elements();
  if (!entries) all.errors.push_back(entries.error());
  if (!entries) return all;
  for (const Value& entry : *entries) read_entry(entry, all);
  return all;
}

bool matches_pf(const PfConfig& config, const node::Pf& pf,
                const std::vector<node::Netdev>& netdevs) {
  const auto& roots = config.root_devices;
  const auto& names = config.pf_names;
  if (config.vendor && config.vendor != pf.vendor) return false;
  if (config.device && config.device != pf.device) return false;
  if (!roots.empty() && std::find(roots.begin(), roots.end(), pf.address) == roots.end())
    return false;
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return has_name(netdevs, name);
         });
}

}  // namespace ibpod::agent::prepare
