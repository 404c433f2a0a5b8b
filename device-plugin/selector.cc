#include "device-plugin/selector.h"

#include "lib/base/join.h"

#include <algorithm>

#include <strings.h>

namespace ibpod::device_plugin {
namespace {

std::string text_of(const std::string& value) { return value; }
std::string text_of(uint32_t value) { return std::to_string(value); }
std::string text_of(const ib::PciAddress& value) { return value.text(); }
std::string text_of(const ib::PKey& value) { return value.text(); }
std::string text_of(const ib::PortState& value) { return std::string(ib::name(value)); }
std::string text_of(const PfChoice& value) { return value.text; }

template <typename T>
std::string list(const std::vector<T>& values) {
  if (values.empty()) return "none";
  return join(values, ", ", [](const T& value) { return text_of(value); });
}

template <typename T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// Compares a device with a selector field by field, until one field has kept it out.
class Comparison {
 public:
  Comparison(const Selector& selector, const Device& device)
      : selector_(selector),
        device_(device),
        hidden_(!device.attachment.empty() && device.rdma.empty()) {}

  std::optional<Mismatch> run() {
    compare_identity();
    compare_place();
    compare_link();
    if (!hidden_) compare_rdma();
    require("rails", selector_.rails, device_.rail);
    if (!found_ && !selector_.unsatisfiable_key.empty())
      found_ = Mismatch{selector_.unsatisfiable_key, "something that no InfiniBand device has",
                        "nothing"};
    return found_;
  }

 private:
  template <typename T>
  void require(const char* field, const std::vector<T>& wanted, const std::optional<T>& value) {
    if (found_ || wanted.empty() || (value && contains(wanted, *value))) return;
    found_ = Mismatch{field, list(wanted), value ? text_of(*value) : "none"};
  }

  template <typename T, typename Fits>
  void require_one(const char* field, const std::vector<T>& wanted, const std::string& value,
                   Fits fits) {
    if (found_ || wanted.empty() || std::any_of(wanted.begin(), wanted.end(), fits)) return;
    found_ = Mismatch{field, list(wanted), value};
  }

  void require_flag(const char* field, std::optional<bool> wanted, bool value) {
    if (found_ || !wanted || *wanted == value) return;
    found_ = Mismatch{field, *wanted ? "true" : "false", value ? "true" : "false"};
  }

  void compare_identity() {
    require("vendors", selector_.vendors, std::optional(device_.vendor));
    require("devices", selector_.devices, std::optional(device_.device_id));
    require("drivers", selector_.drivers, device_.driver);
    require("pciAddresses", selector_.pci_addresses, std::optional(device_.address));
    require("acpiIndexes", selector_.acpi_indexes, device_.acpi_index);
  }

  // A PF belongs to itself, but has no place among its VFs.
  bool chooses(const PfChoice& choice) const {
    return device_.pf ? choice.has(device_.vf) : choice.vfs.empty() && !choice.unreadable;
  }

  std::string described(const std::string& pf) const {
    if (pf.empty()) return "none";
    return device_.pf ? pf + " VF " + std::to_string(device_.vf) : pf;
  }

  void compare_place() {
    require_one(
        "pfNames", selector_.pf_names, described(device_.pf_name), [&](const PfChoice& choice) {
          return ::strcasecmp(choice.pf.c_str(), device_.pf_name.c_str()) == 0 && chooses(choice);
        });
    const std::string root = device_.pf.value_or(device_.address).text();
    require_one("rootDevices", selector_.root_devices, described(root),
                [&](const PfChoice& choice) { return choice.pf == root && chooses(choice); });
  }

  void compare_link() {
    if (hidden_ && device_.link_type.empty()) return;
    std::optional<std::string> type;
    if (!device_.link_type.empty()) type = device_.link_type;
    require("linkTypes", selector_.link_types, type);
  }

  void compare_rdma() {
    require_one("pKeys", selector_.pkeys, tables(), [&](ib::PKey key) { return has_pkey(key); });
    if (selector_.rdma == true) require_flag("isRdma", true, !device_.rdma.empty());
    require_one("linkStates", selector_.link_states, states(), [&](ib::PortState state) {
      return any_port([&](const ib::Port& port) { return port.state == state; });
    });
    require_flag("guidValid", selector_.guid_valid, guids_valid());
  }

  template <typename Fits>
  bool any_port(Fits fits) const {
    return std::any_of(device_.rdma.begin(), device_.rdma.end(), [&](const RdmaDevice& rdma) {
      return std::any_of(rdma.ports.begin(), rdma.ports.end(), fits);
    });
  }

  bool has_pkey(ib::PKey key) const {
    return key.partition() != 0 &&
           any_port([&](const ib::Port& port) { return ib::find_in(port.pkeys, key).has_value(); });
  }

  bool guids_valid() const {
    const auto valid = [](ib::Guid guid) { return ib::check_port_guid(guid).ok(); };
    return !device_.rdma.empty() &&
           std::all_of(device_.rdma.begin(), device_.rdma.end(),
                       [&](const RdmaDevice& rdma) { return valid(rdma.node_guid); }) &&
           !any_port([&](const ib::Port& port) { return !valid(port.guid); });
  }

  // "none" for a device without ports; several ports are parted by "; ".
  template <typename Text>
  std::string of_ports(Text text_of_port) const {
    std::string text;
    for (const RdmaDevice& rdma : device_.rdma) {
      for (const ib::Port& port : rdma.ports) add_item(text, "; ", text_of_port(port));
    }
    return text.empty() ? "none" : text;
  }
  std::string tables() const {
    return of_ports([](const ib::Port& port) { return ib::text(port.pkeys); });
  }
  std::string states() const {
    return of_ports([](const ib::Port& port) { return ib::name(port.state); });
  }

  const Selector& selector_;
  const Device& device_;
  const bool hidden_;
  std::optional<Mismatch> found_;
};

}  // namespace

std::optional<Mismatch> mismatch(const Selector& selector, const Device& device) {
  return Comparison(selector, device).run();
}

bool names_address(const Selector& selector, const ib::PciAddress& function) {
  return contains(selector.pci_addresses, function);
}

}  // namespace ibpod::device_plugin
