#include "cni/ib-sriov/config.h"

#include "lib/base/resource_name.h"
#include "lib/base/words.h"
#include "lib/cni/errors.h"

#include <algorithm>

namespace ibpod::ib_sriov {
namespace {

using attach::at;
using attach::Keys;
using attach::text;
using json::Fields;
using json::Value;

// Reads the keys of a network: one method for each key or group of keys, each filling its part of
// the Config.
class Reader {
 public:
  Reader(const cni::Call& call, const Value& document, const attach::NodeConfig& node)
      : call_(call), keys_(document, call.verb), config_(node) {}

  attach::ParsedConfig<Config> read() && {
    keys_.read(config_);
    keys_.note(read_device());
    vf_.device_info = keys_.take(keys_.device_info(config_.device_info_folder));
    keys_.refuse(read_link_state());
    vf_.spec.mtu = keys_.take(keys_.mtu());
    vf_.spec.isolation = read_flag("rdmaIsolation");
    vf_.spec.pkey = keys_.take(keys_.pkey());
    vf_.spec.partitions = keys_.take(attach::read_partitions(keys_));
    read_guid();
    read_ib_kubernetes();
    vf_.vfio = read_flag("vfioPciMode");
    vf_.spec.ifname = call_.ifname;
    return std::move(keys_).finish(std::move(config_));
  }

 private:
  Status read_device() {
    vf_.device = TRY(keys_.device());
    TRY(read_resource());
    const bool required = call_.verb == cni::Verb::add || call_.verb == cni::Verb::check;
    if (!required || !vf_.device.empty()) return ok();
    if (!vf_.resource.empty()) return check_pod();
    return Error(
        Code::invalid,
        "deviceID is missing: with Multus, set the network's annotation "
        "k8s.v1.cni.cncf.io/resourceName to a resource that the pod requests; without Multus, set "
        "resourceName in the network to that resource, and the node's agent finds the device");
  }

  Status read_resource() {
    const std::optional<std::string> resource = TRY(text(keys_.top(), "resourceName"));
    vf_.resource = resource.value_or("");
    return resource ? check_resource(*resource).during("resourceName") : ok();
  }

  // The kubelet identifies pods by these names.
  Status check_pod() {
    if (!call_.pod.name.empty() && !call_.pod.name_space.empty()) return ok();
    return Error(Code::invalid,
                 "CNI_ARGS: K8S_POD_NAMESPACE and K8S_POD_NAME are missing: a network without "
                 "deviceID requires them")
        .reported_as(cni::kInvalidEnvironment);
  }

  bool read_flag(std::string_view key) {
    return keys_.take(keys_.top().boolean(key)).value_or(false);
  }

  Status read_link_state() {
    const std::optional<std::string> state = TRY(text(keys_.top(), "link_state"));
    const Words<node::LinkPolicy> words{{"auto", node::LinkPolicy::automatic},
                                        {"enable", node::LinkPolicy::enable},
                                        {"disable", node::LinkPolicy::disable}};
    if (state) vf_.spec.policy = TRY(at("link_state", parse_word(words, *state)));
    return ok();
  }

  Status take_guid(Fields& fields, std::string_view key, const std::string& place) {
    const std::optional<std::string> value = TRY(text(fields, key));
    if (!value) return ok();
    const ib::Guid guid = TRY(at(place, ib::Guid::parse(*value)));
    TRY(at(place, ib::check_port_guid(guid)));
    std::optional<node::Guids>& guids = vf_.spec.guids;
    if (guids && guids->port != guid) {
      return Error(Code::invalid, place + ": " + guid.text() + " differs from " + vf_.guid_key +
                                      ": " + guids->port.text());
    }
    if (!guids) vf_.guid_key = place;
    guids = node::Guids{guid, guid};
    return ok();
  }

  void read_guid() {
    if (keys_.runtime())
      keys_.refuse(take_guid(*keys_.runtime(), "infinibandGUID", "runtimeConfig.infinibandGUID"));
    if (keys_.cni_args()) keys_.refuse(take_guid(*keys_.cni_args(), "guid", "args.cni.guid"));
    keys_.refuse(take_guid(keys_.top(), "guid", "guid"));
  }

  void read_ib_kubernetes() {
    vf_.ib_kubernetes = read_flag("ibKubernetesEnabled");
    if (!keys_.cni_args()) return;
    const std::optional<Value> state =
        keys_.take(keys_.cni_args()->find("mellanox.infiniband.app"));
    vf_.ib_kubernetes_configured = state && state->is_string() && *state->string() == "configured";
  }

  const cni::Call& call_;
  Keys keys_;
  Config config_;
  attach::VfConfig& vf_ = config_.vf;
};

}  // namespace

attach::ParsedConfig<Config> parse_config(const cni::Call& call, const Value& document,
                                          const attach::NodeConfig& node) {
  return Reader(call, document, node).read();
}

attach::PluginKind plugin_kind() {
  return {"ib-sriov",
          [](const cni::Call& call, const json::Value& document, const attach::NodeConfig& node) {
            return attach::with_driver<attach::VfDriver>(parse_config(call, document, node),
                                                         &Config::vf);
          }};
}

}  // namespace ibpod::ib_sriov
