#include "cni/ib-sriov/config.h"

#include "lib/attach/keys.h"
#include "lib/cni/errors.h"

#include <algorithm>

namespace ibpod::ib_sriov {
namespace {

using attach::at;
using attach::Keys;
using attach::text;
using json::Fields;
using json::Value;

// The keys of a network, in the groups that belong together. Each reads its own and fills the
// Config.
class Reader {
 public:
  Reader(const cni::Call& call, Keys keys, const attach::NodeConfig& node)
      : call_(call), keys_(std::move(keys)), config_(node) {}

  Result<Config> read() {
    TRY(keys_.read(config_));
    TRY(read_device());
    TRY(read_device_info());
    TRY(read_link());
    spec_.pkey = TRY(keys_.pkey());
    spec_.partitions = TRY(attach::read_partitions(keys_));
    TRY(read_guid());
    TRY(read_ib_kubernetes());
    TRY(read_vfio());
    spec_.ifname = call_.ifname;
    if (call_.verb == cni::Verb::add) TRY(keys_.check_slips());
    keys_.warn(config_);
    return std::move(config_);
  }

  Config read_lenient() {
    keys_.read_lenient(config_);
    const Status device = read_device();
    if (!device) config_.warnings.push_back(device.error().text());
    return std::move(config_);
  }

 private:
  Status read_device() {
    config_.vf.device = TRY(keys_.device());
    TRY(read_resource());
    const bool required = call_.verb == cni::Verb::add || call_.verb == cni::Verb::check;
    if (!required || !config_.vf.device.empty()) return ok();
    if (!config_.resource.empty()) return check_pod();
    return Error(
        Code::invalid,
        "deviceID is missing: with Multus, set the network's annotation "
        "k8s.v1.cni.cncf.io/resourceName to a resource that the pod requests; without Multus, set "
        "resourceName in the network to that resource, and the node's agent finds the device");
  }

  Status read_resource() {
    const std::optional<std::string> resource = TRY(text(keys_.top(), "resourceName"));
    config_.resource = resource.value_or("");
    const size_t slash = config_.resource.find('/');
    const bool named = slash != std::string::npos && slash > 0 &&
                       slash + 1 < config_.resource.size() &&
                       config_.resource.find('/', slash + 1) == std::string::npos;
    if (resource && !named) {
      return Error(Code::invalid, "resourceName: expected PREFIX/NAME as pods request it, got \"" +
                                      config_.resource + "\"");
    }
    return ok();
  }

  // The kubelet knows pods by these names.
  Status check_pod() {
    if (!call_.pod.name.empty() && !call_.pod.name_space.empty()) return ok();
    return Error(Code::invalid,
                 "CNI_ARGS: K8S_POD_NAMESPACE and K8S_POD_NAME are missing: a network without "
                 "deviceID requires them")
        .reported_as(cni::kInvalidEnvironment);
  }

  Status read_device_info() {
    config_.vf.device_info = TRY(keys_.device_info(config_.device_info_folder));
    return ok();
  }

  Status read_link() {
    const std::optional<std::string> state = TRY(text(keys_.top(), "link_state"));
    if (state == "auto")
      spec_.policy = node::LinkPolicy::automatic;
    else if (state == "enable")
      spec_.policy = node::LinkPolicy::enable;
    else if (state == "disable")
      spec_.policy = node::LinkPolicy::disable;
    else if (state)
      return Error(Code::invalid,
                   "link_state: expected auto, enable or disable, got \"" + *state + "\"");
    spec_.mtu = TRY(keys_.mtu());
    const std::optional<bool> isolation = TRY(keys_.top().boolean("rdmaIsolation"));
    spec_.isolation = isolation.value_or(false);
    return ok();
  }

  Status take_guid(Fields& fields, std::string_view key, const std::string& place) {
    const std::optional<std::string> value = TRY(text(fields, key));
    if (!value) return ok();
    const ib::Guid guid = TRY(at(place, ib::Guid::parse(*value)));
    TRY(at(place, ib::check_port_guid(guid)));
    std::optional<node::Guids>& guids = spec_.guids;
    if (guids && guids->port != guid) {
      return Error(Code::invalid, place + ": " + guid.text() + " differs from " + config_.guid_key +
                                      ": " + guids->port.text());
    }
    if (!guids) config_.guid_key = place;
    guids = node::Guids{guid, guid};
    return ok();
  }

  Status read_guid() {
    if (keys_.runtime())
      TRY(take_guid(*keys_.runtime(), "infinibandGUID", "runtimeConfig.infinibandGUID"));
    if (keys_.cni_args()) TRY(take_guid(*keys_.cni_args(), "guid", "args.cni.guid"));
    return take_guid(keys_.top(), "guid", "guid");
  }

  Status read_ib_kubernetes() {
    const std::optional<bool> enabled = TRY(keys_.top().boolean("ibKubernetesEnabled"));
    config_.ib_kubernetes = enabled.value_or(false);
    if (!keys_.cni_args()) return ok();
    const std::optional<Value> state = TRY(keys_.cni_args()->find("mellanox.infiniband.app"));
    config_.ib_kubernetes_configured =
        state && state->is_string() && *state->string() == "configured";
    return ok();
  }

  Status read_vfio() {
    const std::optional<bool> vfio = TRY(keys_.top().boolean("vfioPciMode"));
    config_.vf.vfio = vfio.value_or(false);
    return ok();
  }

  const cni::Call& call_;
  Keys keys_;
  Config config_;
  node::Spec& spec_ = config_.vf.spec;
};

}  // namespace

Result<Config> parse_config(const cni::Call& call, const cni::Network& network,
                            const attach::NodeConfig& node) {
  TRY(attach::check_ipam(network));
  Keys keys = TRY(Keys::of(network.document));
  return Reader(call, std::move(keys), node).read();
}

Config parse_lenient(const cni::Call& call, const Value& document, const attach::NodeConfig& node) {
  Result<Keys> keys = Keys::of(document);
  if (!keys) return Config(node);
  return Reader(call, std::move(*keys), node).read_lenient();
}

}  // namespace ibpod::ib_sriov
