#include "cni/ib-sriov/config.h"

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

Result<std::optional<Value>> object(Fields& fields, std::string_view key) {
  std::optional<Value> value = TRY(fields.find(key));
  if (value && !value->is_object()) return value->wrong("expected an object");
  return value;
}

// The keys of a network, in the groups that belong together. Each reads its own and fills the
// Config.
class Reader {
 public:
  Reader(const cni::Call& call, const cni::Network& network, Fields fields)
      : call_(call), network_(network), top_(std::move(fields)) {}

  Result<Config> read() {
    TRY(read_nested());
    TRY(read_program());
    TRY(read_device());
    TRY(read_link());
    TRY(read_pkey());
    TRY(read_guid());
    TRY(read_ib_kubernetes());
    if (network_.ipam_type == "dhcp") {
      return Error(
          Code::unsupported,
          "ipam.type: \"dhcp\" cannot serve InfiniBand: its daemon builds requests from 6-byte "
          "Ethernet addresses; use host-local, static, whereabouts or another one");
    }
    TRY(read_vfio());
    config_.order.wanted.ifname = call_.ifname;
    return finish();
  }

  Remains remains() {
    Remains rest;
    note(read_nested());
    note(read_program());
    note(read_device());
    if (!config_.order.device.empty()) rest.device = config_.order.device;
    rest.log_level = config_.log_level;
    rest.log_file = config_.log_file;
    rest.state_folder = config_.state_folder;
    rest.timeout = config_.order.timeout;
    rest.warnings = config_.warnings;
    return rest;
  }

 private:
  void note(const Status& status) {
    if (!status) config_.warnings.push_back(status.error().text());
  }

  Status read_nested() {
    for (const std::string_view key : cni::kNetworkKeys) TRY(top_.find(key));
    // Multus adds it beside deviceID, with the same value.
    TRY(top_.find("pciBusID"));
    const std::optional<Value> runtime = TRY(object(top_, "runtimeConfig"));
    if (runtime) runtime_ = TRY(Fields::of(*runtime));
    const std::optional<Value> args = TRY(object(top_, "args"));
    const std::optional<Value> cni = args ? args->find("cni") : std::nullopt;
    if (cni) args_ = TRY(Fields::of(*cni));
    return ok();
  }

  Status read_program() {
    // First what a DEL needs most: it reads as far as it can.
    const Path state = TRY(read_path(top_, "stateDir", "stateDir"));
    if (!state.empty()) config_.state_folder = state;
    const std::optional<int64_t> seconds = TRY(top_.integer("timeoutSeconds", 1, 110));
    if (seconds) config_.order.timeout = std::chrono::seconds(*seconds);
    const std::optional<std::string> level = TRY(text(top_, "logLevel"));
    if (level) config_.log_level = TRY(at("logLevel", log::parse_level(*level)));
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

  Status read_device() {
    std::optional<std::string> device = TRY(text(top_, "deviceID"));
    std::optional<std::string> injected;
    if (runtime_) injected = TRY(text(*runtime_, "deviceID"));
    if (device && injected && *device != *injected) {
      return Error(Code::invalid, "deviceID: \"" + *device + "\" and runtimeConfig.deviceID: \"" +
                                      *injected + "\" differ: which device is meant?");
    }
    if (!device) device = injected;
    const bool required = call_.verb == cni::Verb::add || call_.verb == cni::Verb::check;
    if (!device && required) {
      return Error(Code::invalid,
                   "deviceID: it is missing; Multus puts it in for a network whose annotation "
                   "k8s.v1.cni.cncf.io/resourceName names a device plugin's resource");
    }
    if (device) config_.order.device = TRY(at("deviceID", ib::PciAddress::parse(*device)));
    if (runtime_) {
      config_.order.device_info =
          TRY(read_path(*runtime_, "CNIDeviceInfoFile", "runtimeConfig.CNIDeviceInfoFile"));
    }
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

  Status take_guid(std::optional<Fields>& fields, std::string_view key, const std::string& place) {
    if (!fields) return ok();
    const std::optional<std::string> value = TRY(text(*fields, key));
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
    TRY(take_guid(runtime_, "infinibandGUID", "runtimeConfig.infinibandGUID"));
    TRY(take_guid(args_, "guid", "args.cni.guid"));
    std::optional<Fields> top(std::move(top_));
    Status taken = take_guid(top, "guid", "guid");
    top_ = std::move(*top);
    return taken;
  }

  Status read_ib_kubernetes() {
    const std::optional<bool> enabled = TRY(top_.boolean("ibKubernetesEnabled"));
    config_.ib_kubernetes = enabled.value_or(false);
    if (!args_) return ok();
    const std::optional<Value> state = TRY(args_->find("mellanox.infiniband.app"));
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
    if (args_) note_spellings(*args_, "args.cni.");
    for (const std::string& key : top_.unknown())
      config_.warnings.push_back("the key \"" + key + "\" is unknown and ignored");
    return std::move(config_);
  }

  const cni::Call& call_;
  const cni::Network& network_;
  Fields top_;
  std::optional<Fields> runtime_;
  std::optional<Fields> args_;
  std::string guid_place_;
  Config config_;
};

}  // namespace

Result<Config> parse_config(const cni::Call& call, const cni::Network& network) {
  Fields fields = TRY(Fields::of(network.document));
  return Reader(call, network, std::move(fields)).read();
}

Remains parse_remains(const cni::Call& call, const cni::Network& network) {
  Result<Fields> fields = Fields::of(network.document);
  if (!fields) return {};
  return Reader(call, network, std::move(*fields)).remains();
}

}  // namespace ibpod::ib_sriov
