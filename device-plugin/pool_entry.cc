#include "device-plugin/pool_config.h"
#include "device-plugin/selector_config.h"
#include "lib/base/resource_name.h"
#include "lib/json/read.h"

#include <utility>

namespace ibpod::device_plugin {
namespace {

using json::Fields;
using json::Value;

constexpr std::string_view kKeys =
    "resourceName, resourcePrefix, deviceType, excludeTopology, selectors, additionalInfo, "
    "isolation, ignoreLink, cdi, policy, deviceNodes, tickets";
constexpr int64_t kMaxIpoibSlots = 10'000;

class Reader {
 public:
  Reader(const Value& object, Fields fields, std::vector<std::string>& warnings)
      : object_(object), fields_(std::move(fields)), warnings_(warnings) {}

  Result<Pool> read(const std::string& default_prefix) {
    TRY(read_name(default_prefix));
    TRY(read_kind());
    TRY(read_selectors());
    TRY(read_additional_info());
    TRY(read_options());
    TRY(read_device_nodes());
    TRY(read_ipoib_slots());
    TRY(read_deprecated());
    TRY(check_keys(object_, fields_, kKeys, warnings_));
    return std::move(pool_);
  }

 private:
  Status read_name(const std::string& default_prefix) {
    const std::optional<std::string> name = TRY(fields_.string("resourceName"));
    if (!name) return object_.wrong("the key \"resourceName\" is missing");
    TRY(check_resource_name(*name).during(object_.path() + ".resourceName"));
    const std::optional<std::string> prefix = TRY(fields_.string("resourcePrefix"));
    pool_.name = *name;
    pool_.prefix = prefix && !prefix->empty() ? *prefix : default_prefix;
    TRY(check_resource_prefix(pool_.prefix).during(object_.path() + ".resourcePrefix"));
    const std::string variable = variable_of(pool_.resource());
    if (variable.find('-') != variable.npos)
      warn("resourceName", "the pod's environment variable is " + variable +
                               ", which no shell can read: use no '-' in prefix and name");
    return ok();
  }

  Status read_kind() {
    const std::optional<Value> value = TRY(fields_.find("deviceType"));
    if (!value) return ok();
    const std::string text = TRY(value->string());
    if (text.empty()) return ok();
    pool_.kind = TRY(json::read_word<PoolKind>(*value, {{"netDevice", PoolKind::device},
                                                        {"ipoibTicket", PoolKind::ipoib_slot},
                                                        {"accelerator", PoolKind::foreign},
                                                        {"auxNetDevice", PoolKind::foreign}}));
    if (pool_.kind == PoolKind::foreign)
      warn("deviceType",
           "\"" + text + "\" is not supported: " + pool_.resource() + " is left to another plugin");
    return ok();
  }

  Status add_selector(const Value& object) {
    Selector selector = TRY(parse_selector(object, warnings_));
    pool_.selectors.push_back(std::move(selector));
    return ok();
  }

  Status read_selectors() {
    const std::optional<Value> value = TRY(fields_.find("selectors"));
    if (!value) return ok();
    if (value->is_object()) return add_selector(*value);
    if (!value->is_array()) return value->wrong("expected an object or a list of objects");
    const std::vector<Value> objects = TRY(value->elements());
    for (const Value& object : objects) TRY(add_selector(object));
    return ok();
  }

  Status read_info_of(const std::string& device, const Value& object) {
    std::string key = device;
    if (key != "*") {
      const ib::PciAddress address = TRY(ib::PciAddress::parse(key).during(object.path()));
      key = address.text();
    }
    const auto members = TRY(object.members());
    for (const auto& [name, value] : members) {
      const std::string text = TRY(value.string());
      pool_.additional_info[key][name] = text;
    }
    return ok();
  }

  Status read_additional_info() {
    const std::optional<Value> value = TRY(fields_.find("additionalInfo"));
    if (!value) return ok();
    const auto devices = TRY(value->members());
    for (const auto& [device, object] : devices) TRY(read_info_of(device, object));
    return ok();
  }

  // A key that is missing leaves the flag as it is.
  Status read_flag(std::string_view key, bool& flag) {
    const std::optional<bool> value = TRY(fields_.boolean(key));
    flag = value.value_or(flag);
    return ok();
  }

  Status read_cdi() {
    TRY(read_flag("cdi", pool_.cdi));
    if (!pool_.cdi || pool_.prefix.front() > '9') return ok();
    pool_.cdi = false;
    warn("cdi", "CDI is off for this pool: the prefix " + pool_.prefix +
                    " begins with a digit, which CDI does not allow");
    return ok();
  }

  Status read_options() {
    TRY(read_flag("excludeTopology", pool_.exclude_topology));
    TRY(read_flag("isolation", pool_.isolation));
    TRY(read_flag("ignoreLink", pool_.ignore_link));
    TRY(read_cdi());
    const std::optional<Value> policy = TRY(fields_.find("policy"));
    if (!policy) return ok();
    pool_.policy = TRY(json::read_word<Policy>(
        *policy, {{"packed", Policy::packed}, {"spread", Policy::spread}, {"numa", Policy::numa}}));
    return ok();
  }

  Status read_device_nodes() {
    const std::optional<Value> list = TRY(fields_.find("deviceNodes"));
    if (!list) return ok();
    pool_.device_nodes.clear();
    const std::vector<Value> elements = TRY(list->elements());
    for (const Value& element : elements) {
      const std::string name = TRY(json::read_word<std::string>(
          element,
          {{"uverbs", "uverbs"}, {"rdma_cm", "rdma_cm"}, {"umad", "umad"}, {"issm", "issm"}}));
      if (name == "umad" || name == "issm")
        warnings_.push_back(element.path() +
                            ": pods of this pool can send management packets "
                            "to the fabric: " +
                            name + " is not a data path");
      pool_.device_nodes.push_back(name);
    }
    return ok();
  }

  Status read_ipoib_slots() {
    const bool slot = pool_.kind == PoolKind::ipoib_slot;
    const std::optional<int64_t> slots = TRY(fields_.integer("tickets", 1, kMaxIpoibSlots));
    if (slot && !slots)
      return object_.wrong(
          "the key \"tickets\" is missing: set the number of IPoIB children of each HCA");
    if (!slot && slots)
      return object_.wrong("\"tickets\" is only for \"deviceType\": \"ipoibTicket\"");
    pool_.ipoib_slots = static_cast<uint32_t>(slots.value_or(0));
    return ok();
  }

  // Keys in the place where older versions of the peer had them, and where its own program still
  // writes them.
  Status read_deprecated() {
    for (const char* key : {"isRdma", "SelectorObj", "SelectorObjs"}) {
      const std::optional<Value> old = TRY(fields_.find(key));
      if (old) warn(key, "it is ignored: sriov-network-device-plugin reads it from selectors only");
    }
    return ok();
  }

  void warn(const std::string& key, const std::string& text) {
    warnings_.push_back(object_.path() + "." + key + ": " + text);
  }

  const Value& object_;
  Fields fields_;
  std::vector<std::string>& warnings_;
  Pool pool_;
};

}  // namespace

Result<Pool> parse_pool(const Value& object, const std::string& default_prefix,
                        std::vector<std::string>& warnings) {
  Fields fields = TRY(Fields::of(object));
  return Reader(object, std::move(fields), warnings).read(default_prefix);
}

}  // namespace ibpod::device_plugin
