#include "device-plugin/selector_config.h"

#include "lib/ib/hex.h"

#include <algorithm>
#include <charconv>

#include <strings.h>

namespace ibpod::device_plugin {
namespace {

using json::Fields;
using json::Value;

constexpr std::string_view kKeys =
    "vendors, devices, drivers, pciAddresses, acpiIndexes, pfNames, rootDevices, linkTypes, "
    "isRdma, "
    "needVhostNet, ddpProfiles, vdpaType, pKeys, auxTypes, linkStates, guidValid, rails";

class Reader {
 public:
  Reader(const Value& object, Fields fields, std::vector<std::string>& warnings)
      : object_(object), fields_(std::move(fields)), warnings_(warnings) {}

  Result<Selector> read() {
    TRY(read_identity());
    TRY(read_place());
    TRY(read_link());
    TRY(read_extensions());
    TRY(read_ignored());
    TRY(check_keys(object_, fields_, kKeys, warnings_));
    return std::move(selector_);
  }

 private:
  template <typename T, typename Parse>
  Status read_list(std::string_view key, std::vector<T>& into, Parse parse) {
    const std::vector<Value> elements = TRY(elements_of(fields_, key));
    for (const Value& element : elements) {
      T value = TRY(parse(element));
      into.push_back(std::move(value));
    }
    return ok();
  }

  static Result<std::string> parse_id(const Value& value) {
    const std::string text = TRY(value.string());
    const auto id = ib::parse_hex(text);
    if (id && text.size() == 4) return ib::hex(*id, 4);
    const bool prefixed =
        text.size() == 6 && text.starts_with("0x") && ib::parse_hex(text.substr(2));
    return value.wrong("\"" + text + "\" is not a PCI ID: expected 4 hex digits, such as \"" +
                       (prefixed ? text.substr(2) : "15b3") + "\"");
  }

  static Result<ib::PciAddress> parse_address(const Value& value) {
    const std::string text = TRY(value.string());
    return ib::PciAddress::parse(text).during(value.path());
  }

  static Result<uint32_t> parse_index(const Value& value) {
    const std::string text = TRY(value.string());
    uint32_t index = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error == std::errc() && stopped == text.data() + text.size() && !text.empty()) return index;
    return value.wrong("\"" + text + "\" is not an ACPI index: expected a string such as \"101\"");
  }

  static Result<std::string> parse_text(const Value& value) { return value.string(); }

  Status read_identity() {
    TRY(read_list("vendors", selector_.vendors, parse_id));
    TRY(read_list("devices", selector_.devices, parse_id));
    TRY(read_list("drivers", selector_.drivers, parse_text));
    TRY(read_list("pciAddresses", selector_.pci_addresses, parse_address));
    return read_list("acpiIndexes", selector_.acpi_indexes, parse_index);
  }

  Result<PfChoice> parse_choice(const Value& value) {
    const std::string text = TRY(value.string());
    PfChoice choice = parse_pf_choice(text);
    if (choice.pf.empty())
      return value.wrong("\"" + text + "\" names no PF: expected a form such as \"ib0#0,2-7\"");
    if (choice.unreadable)
      warn(value, "\"" + text +
                      "\" selects nothing: its range is invalid, expected a form such as "
                      "\"" +
                      choice.pf + "#0,2-7\"");
    return choice;
  }

  Result<PfChoice> parse_root(const Value& value) {
    PfChoice choice = TRY(parse_choice(value));
    const ib::PciAddress pf = TRY(ib::PciAddress::parse(choice.pf).during(value.path()));
    choice.pf = pf.text();
    return choice;
  }

  void warn_of_repetition(std::string_view key, const std::vector<PfChoice>& choices) {
    for (size_t i = 0; i < choices.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (::strcasecmp(choices[i].pf.c_str(), choices[j].pf.c_str()) != 0) continue;
        warnings_.push_back(object_.path() + "." + std::string(key) + "[" + std::to_string(i) +
                            "]: \"" + choices[i].text + "\" names " + choices[i].pf +
                            " again: both entries count here, in sriov-network-device-plugin only "
                            "\"" +
                            choices[j].text + "\"; write one entry with all ranges");
        break;
      }
    }
  }

  Status read_place() {
    TRY(read_list("pfNames", selector_.pf_names, [&](const Value& v) { return parse_choice(v); }));
    TRY(read_list("rootDevices", selector_.root_devices,
                  [&](const Value& v) { return parse_root(v); }));
    warn_of_repetition("pfNames", selector_.pf_names);
    warn_of_repetition("rootDevices", selector_.root_devices);
    return ok();
  }

  Result<std::string> parse_link_type(const Value& value) {
    std::string type = TRY(value.string());
    if (type != "infiniband" && type != "ether")
      warn(value, "\"" + type + "\" selects nothing: expected \"infiniband\" or \"ether\"");
    return type;
  }

  // The peer compares text with what the kernel prints, which is 0x and 4 lowercase digits.
  void warn_of_form(const Value& value, ib::PKey key) {
    if (value.is_string() && *value.string() == key.text()) return;
    warn(value, value.text() + " is read as the number " + key.text() +
                    "; sriov-network-device-plugin compares text and never matches it");
  }

  Result<ib::PKey> parse_pkey(const Value& value) {
    ib::PKey key;
    if (value.is_number()) {
      const int64_t number = TRY(value.integer());
      key = TRY(ib::PKey::from_number(number).during(value.path()));
    } else {
      const std::string text = TRY(value.string());
      key = TRY(ib::PKey::parse(text).during(value.path()));
    }
    if (key.partition() == 0)
      return value.wrong(key.text() + " is not a P_Key: it marks a free entry of a P_Key table");
    warn_of_form(value, key);
    return key;
  }

  Status read_link() {
    TRY(read_list("linkTypes", selector_.link_types,
                  [&](const Value& v) { return parse_link_type(v); }));
    TRY(read_list("pKeys", selector_.pkeys, [&](const Value& v) { return parse_pkey(v); }));
    selector_.rdma = TRY(fields_.boolean("isRdma"));
    return ok();
  }

  static Result<ib::PortState> parse_state(const Value& value) {
    const std::string text = TRY(value.string());
    for (const ib::PortState state :
         {ib::PortState::down, ib::PortState::init, ib::PortState::armed, ib::PortState::active}) {
      if (::strcasecmp(text.c_str(), std::string(ib::name(state)).c_str()) == 0) return state;
    }
    return value.wrong("\"" + text +
                       "\" is not a port state: expected DOWN, INIT, ARMED or ACTIVE");
  }

  static Result<uint32_t> parse_rail(const Value& value) {
    const int64_t rail = TRY(value.integer(0, 255));
    return static_cast<uint32_t>(rail);
  }

  Status read_extensions() {
    TRY(read_list("linkStates", selector_.link_states, parse_state));
    TRY(read_list("rails", selector_.rails, parse_rail));
    selector_.guid_valid = TRY(fields_.boolean("guidValid"));
    return ok();
  }

  // Keys with which the peer keeps every device out that has not what only other hardware has.
  void note_unsatisfiable(std::string_view key, bool asked) {
    if (!asked) return;
    selector_.unsatisfiable_key = key;
    warnings_.push_back(object_.path() + "." + std::string(key) +
                        ": no InfiniBand device has it: this selector selects nothing");
  }

  Status read_ignored() {
    const std::vector<Value> profiles = TRY(elements_of(fields_, "ddpProfiles"));
    note_unsatisfiable("ddpProfiles", !profiles.empty());
    const std::vector<Value> auxiliary = TRY(elements_of(fields_, "auxTypes"));
    note_unsatisfiable("auxTypes", !auxiliary.empty());
    const std::optional<std::string> vdpa = TRY(fields_.string("vdpaType"));
    if (vdpa && !vdpa->empty() && selector_.rdma == true)
      return object_.wrong("vdpaType \"" + *vdpa + "\" and isRdma exclude each other: keep isRdma");
    note_unsatisfiable("vdpaType", vdpa && !vdpa->empty());
    const std::optional<bool> vhost = TRY(fields_.boolean("needVhostNet"));
    if (vhost == true)
      warnings_.push_back(object_.path() +
                          ".needVhostNet: it is ignored: pods are given no /dev/vhost-net here");
    return ok();
  }

  void warn(const Value& value, const std::string& text) {
    warnings_.push_back(value.path() + ": " + text);
  }

  const Value& object_;
  Fields fields_;
  std::vector<std::string>& warnings_;
  Selector selector_;
};

}  // namespace

Result<std::vector<Value>> elements_of(Fields& fields, std::string_view key) {
  const std::optional<Value> list = TRY(fields.find(key));
  if (!list) return std::vector<Value>();
  return list->elements();
}

Status check_keys(const Value& object, const Fields& fields, std::string_view known,
                  std::vector<std::string>& warnings) {
  const std::string place = object.path().empty() ? "" : object.path() + ".";
  for (const std::string& warning : fields.warnings()) warnings.push_back(place + warning);
  const std::vector<std::string> unknown = fields.unknown();
  if (unknown.empty()) return ok();
  const std::string meant = fields.meant_by(unknown.front());
  return Error(Code::invalid,
               place + unknown.front() + ": unknown key" +
                   (meant.empty() ? ", expected one of " + std::string(known) : meant));
}

Result<Selector> parse_selector(const Value& object, std::vector<std::string>& warnings) {
  Fields fields = TRY(Fields::of(object));
  return Reader(object, std::move(fields), warnings).read();
}

}  // namespace ibpod::device_plugin
