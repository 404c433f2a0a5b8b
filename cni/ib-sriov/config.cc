#include "cni/ib-sriov/config.h"

#include "lib/attach/addresses.h"
#include "lib/json/fields.h"

#include <algorithm>

namespace ibpod::ib_sriov {
namespace {

using json::Fields;
using json::Value;

// Go's readers take an empty string for an absent one, and tools that write such configurations
// rely on it.
Result<std::optional<std::string>> text(Fields& fields, std::string_view key) {
  std::optional<std::string> value = TRY(fields.string(key));
  if (value && value->empty()) value.reset();
  return value;
}

// An error of a value parser, under its key.
template <typename T>
Result<T> at(std::string_view key, Result<T> parsed) {
  return std::move(parsed).during(key);
}

Status check_ipam(const cni::Network& network) {
  if (network.ipam_type != attach::kDhcp) return ok();
  return Error(Code::unsupported,
               "ipam.type: \"" + std::string(attach::kDhcp) +
                   "\" cannot serve InfiniBand: its daemon builds requests from 6-byte Ethernet "
                   "addresses; use host-local, static, whereabouts or another one");
}

// The keys of a network, in the groups that belong together. Each reads its own and fills the
// Config.
class Reader {
 public:
  Reader(const cni::Call& call, Fields fields) : call_(call), top_(std::move(fields)) {}

  Result<Config> read() {
    for (const std::string_view key : cni::kNetworkKeys) TRY(top_.find(key));
    // Multus adds it beside deviceID, with the same value.
    TRY(top_.find("pciBusID"));
    TRY(read_runtime_config());
    TRY(read_args());
    TRY(read_state_folder());
    TRY(read_timeout());
    TRY(read_log_level());
    TRY(read_log_file());
    TRY(read_device());
    TRY(read_device_info());
    TRY(read_link());
    TRY(read_pkey());
    TRY(read_guid());
    TRY(read_ib_kubernetes());
    TRY(read_vfio());
    config_.order.wanted.ifname = call_.ifname;
    return finish();
  }

  Config remains() {
    // One that is wrong is among the network's own warnings.
    (void)read_runtime_config();
    note(read_state_folder());
    note(read_timeout());
    note(read_log_level());
    note(read_log_file());
    note(read_device());
    return std::move(config_);
  }

 private:
  void note(const Status& status) {
    if (!status) config_.warnings.push_back(status.error().text());
  }

  Status read_runtime_config() {
    const std::optional<Value> runtime = TRY(top_.find("runtimeConfig"));
    if (runtime) runtime_ = TRY(Fields::of(*runtime));
    return ok();
  }

  Status read_args() {
    const std::optional<Value> args = TRY(top_.find("args"));
    if (!args) return ok();
    args_ = TRY(Fields::of(*args));
    const std::optional<Value> cni = TRY(args_->find("cni"));
    if (cni) cni_args_ = TRY(Fields::of(*cni));
    return ok();
  }

  Status read_state_folder() {
    const Path folder = TRY(read_path(top_, "stateDir", "stateDir"));
    if (!folder.empty()) config_.state_folder = folder;
    return ok();
  }

  Status read_timeout() {
    const std::optional<int64_t> seconds = TRY(top_.integer("timeoutSeconds", 1, 110));
    if (seconds) config_.order.timeout = std::chrono::seconds(*seconds);
    return ok();
  }

  Status read_log_level() {
    const std::optional<std::string> level = TRY(text(top_, "logLevel"));
    if (level) config_.log_level = TRY(at("logLevel", log::parse_level(*level)));
    return ok();
  }

  Status read_log_file() {
    config_.log_file = TRY(read_path(top_, "logFile", "logFile"));
    return ok();
  }

  static Result<Path> read_path(Fields& fields, std::string_view key, const std::string& place) {
    const std::optional<std::string> value = TRY(text(fields, key));
    if (!value) return Path();
    const Path path(*value);
    const bool climbs = std::find(path.begin(), path.end(), Path("..")) != path.end();
    if (path.is_absolute() && !climbs && value->find('\0') == std::string::npos) return path;
    return Error(Code::invalid, place + ": \"" + *value + "\" is no absolute path without \"..\"");
  }

  // Empty where the key is.
  static Result<ib::PciAddress> read_address(Fields& fields, std::string_view place) {
    const std::optional<std::string> value = TRY(text(fields, "deviceID"));
    return value ? at(place, ib::PciAddress::parse(*value)) : ib::PciAddress();
  }

  Status read_device() {
    const ib::PciAddress device = TRY(read_address(top_, "deviceID"));
    ib::PciAddress injected;
    if (runtime_) injected = TRY(read_address(*runtime_, "runtimeConfig.deviceID"));
    if (!device.empty() && !injected.empty() && device != injected) {
      return Error(Code::invalid, "deviceID: \"" + device.text() +
                                      "\" and runtimeConfig.deviceID: \"" + injected.text() +
                                      "\" differ: which device is meant?");
    }
    config_.order.device = device.empty() ? injected : device;
    const bool required = call_.verb == cni::Verb::add || call_.verb == cni::Verb::check;
    if (!required || !config_.order.device.empty()) return ok();
    return Error(Code::invalid,
                 "deviceID: it is missing; Multus puts it in for a network whose annotation "
                 "k8s.v1.cni.cncf.io/resourceName names a device plugin's resource");
  }

  Status read_device_info() {
    if (!runtime_) return ok();
    config_.order.device_info =
        TRY(read_path(*runtime_, "CNIDeviceInfoFile", "runtimeConfig.CNIDeviceInfoFile"));
    return ok();
  }

  Status read_link() {
    const std::optional<std::string> state = TRY(text(top_, "link_state"));
    if (state == "auto")
      config_.order.wanted.policy = node::LinkPolicy::automatic;
    else if (state == "enable")
      config_.order.wanted.policy = node::LinkPolicy::enable;
    else if (state == "disable")
      config_.order.wanted.policy = node::LinkPolicy::disable;
    else if (state)
      return Error(Code::invalid,
                   "link_state: expected auto, enable or disable, got \"" + *state + "\"");
    // 68 is the least that IPv4 works with, 65520 the most of IPoIB's connected mode.
    const std::optional<int64_t> mtu = TRY(top_.integer("mtu", 68, 65520));
    if (mtu) config_.order.wanted.mtu = static_cast<uint32_t>(*mtu);
    const std::optional<bool> isolation = TRY(top_.boolean("rdmaIsolation"));
    config_.order.wanted.isolation = isolation.value_or(false);
    return ok();
  }

  Status read_pkey() {
    const std::optional<Value> value = TRY(top_.find("pkey"));
    if (!value) return ok();
    ib::PKey key;
    if (value->is_number()) {
      const int64_t number = TRY(value->integer());
      key = TRY(at("pkey", ib::PKey::from_number(number)));
    } else {
      const std::string text = TRY(value->string());
      if (text.empty()) return ok();
      key = TRY(at("pkey", ib::PKey::parse(text)));
    }
    TRY(at("pkey", ib::check_tenant(key)));
    config_.order.wanted.pkey = key;
    return ok();
  }

  Status take_guid(Fields& fields, std::string_view key, const std::string& place) {
    const std::optional<std::string> value = TRY(text(fields, key));
    if (!value) return ok();
    const ib::Guid guid = TRY(at(place, ib::Guid::parse(*value)));
    TRY(at(place, ib::check_assignable(guid)));
    std::optional<node::Guids>& wanted = config_.order.wanted.guids;
    if (wanted && wanted->port != guid) {
      return Error(Code::invalid, place + ": " + guid.text() + " differs from " + guid_place_ +
                                      ": " + wanted->port.text());
    }
    if (!wanted) guid_place_ = place;
    wanted = node::Guids{guid, guid};
    return ok();
  }

  Status read_guid() {
    if (runtime_) TRY(take_guid(*runtime_, "infinibandGUID", "runtimeConfig.infinibandGUID"));
    if (cni_args_) TRY(take_guid(*cni_args_, "guid", "args.cni.guid"));
    return take_guid(top_, "guid", "guid");
  }

  Status read_ib_kubernetes() {
    const std::optional<bool> enabled = TRY(top_.boolean("ibKubernetesEnabled"));
    config_.ib_kubernetes = enabled.value_or(false);
    if (!cni_args_) return ok();
    const std::optional<Value> state = TRY(cni_args_->find("mellanox.infiniband.app"));
    config_.ib_kubernetes_configured =
        state && state->is_string() && *state->string() == "configured";
    return ok();
  }

  Status read_vfio() {
    const std::optional<bool> vfio = TRY(top_.boolean("vfioPciMode"));
    config_.order.vfio = vfio.value_or(false);
    return ok();
  }

  void note_spellings(const Fields& fields, const std::string& place) {
    for (const std::string& warning : fields.warnings()) {
      config_.warnings.push_back(place + warning);
    }
  }

  Result<Config> finish() {
    note_spellings(top_, "");
    if (runtime_) note_spellings(*runtime_, "runtimeConfig.");
    if (args_) note_spellings(*args_, "args.");
    if (cni_args_) note_spellings(*cni_args_, "args.cni.");
    for (const std::string& key : top_.unknown())
      config_.warnings.push_back("the key \"" + key + "\" is unknown and ignored");
    return std::move(config_);
  }

  const cni::Call& call_;
  Fields top_;
  std::optional<Fields> runtime_;
  std::optional<Fields> args_;
  std::optional<Fields> cni_args_;
  std::string guid_place_;
  Config config_;
};

}  // namespace

Result<Config> parse_config(const cni::Call& call, const cni::Network& network) {
  TRY(check_ipam(network));
  Fields fields = TRY(Fields::of(network.document));
  return Reader(call, std::move(fields)).read();
}

Config parse_remains(const cni::Call& call, const Value& document) {
  Result<Fields> fields = Fields::of(document);
  if (!fields) return {};
  return Reader(call, std::move(*fields)).remains();
}

}  // namespace ibpod::ib_sriov
