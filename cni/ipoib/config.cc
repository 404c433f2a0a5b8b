#include "cni/ipoib/config.h"

#include "lib/base/words.h"

namespace ibpod::ipoib {
namespace {

using attach::at;
using attach::Keys;
using attach::text;

// Reads the keys of a network: one method for each key or group of keys, each filling its part of
// the Config.
class Reader {
 public:
  Reader(const cni::Call& call, const json::Value& document, const attach::NodeConfig& node)
      : call_(call), keys_(document, call.verb), config_(node) {}

  attach::ParsedConfig<Config> read() && {
    keys_.read(config_);
    keys_.refuse(read_master());
    keys_.refuse(read_mode());
    ipoib_.umcast = keys_.take(keys_.top().boolean("umcast")).value_or(ipoib_.umcast);
    ipoib_.spec.pkey = keys_.take(keys_.pkey());
    keys_.refuse(read_partition());
    ipoib_.spec.mtu = keys_.take(keys_.mtu());
    ipoib_.spec.ifname = call_.ifname;
    return std::move(keys_).finish(std::move(config_));
  }

 private:
  // The network's own master has precedence over deviceID: Multus adds that to every network of a
  // pod that has a device of any device plugin.
  Status read_master() {
    const std::optional<std::string> master = TRY(text(keys_.top(), "master"));
    ipoib_.master = master.value_or("");
    const std::optional<std::string> pf = TRY(text(keys_.top(), "pf"));
    if (pf) ipoib_.device = TRY(at("pf", ib::PciAddress::parse(*pf)));
    TRY(master || pf ? ignore_device() : read_device());
    const bool required = call_.verb == cni::Verb::add || call_.verb == cni::Verb::check;
    if (!required || !ipoib_.master.empty() || !ipoib_.device.empty()) return ok();
    return Error(Code::invalid,
                 "master is missing: set it to the host's IPoIB interface (\"ib0\"), or set pf or "
                 "deviceID to the PCI address of its function");
  }

  Status read_device() {
    ipoib_.device = TRY(keys_.device());
    return ok();
  }

  Status ignore_device() {
    const std::optional<json::Value> device = TRY(keys_.top().find("deviceID"));
    if (device) keys_.warn("deviceID is ignored: master or pf names the interface");
    return ok();
  }

  Status read_partition() {
    ipoib_.spec.partitions = TRY(attach::read_partitions(keys_));
    if (ipoib_.spec.partitions.size() <= 1) return ok();
    return Error(Code::invalid,
                 "partitions: an IPoIB interface can be in only one partition: name one, and use "
                 "one network for each partition");
  }

  Status read_mode() {
    const std::optional<std::string> mode = TRY(text(keys_.top(), "mode"));
    const Words<nl::IpoibMode> words{{"datagram", nl::IpoibMode::datagram},
                                     {"connected", nl::IpoibMode::connected}};
    if (mode) ipoib_.mode = TRY(at("mode", parse_word(words, *mode)));
    return ok();
  }

  const cni::Call& call_;
  Keys keys_;
  Config config_;
  attach::IpoibConfig& ipoib_ = config_.ipoib;
};

}  // namespace

attach::ParsedConfig<Config> parse_config(const cni::Call& call, const json::Value& document,
                                          const attach::NodeConfig& node) {
  return Reader(call, document, node).read();
}

attach::PluginKind plugin_kind() {
  return {"ipoib",
          [](const cni::Call& call, const json::Value& document, const attach::NodeConfig& node) {
            return attach::with_driver<attach::IpoibDriver>(parse_config(call, document, node),
                                                            &Config::ipoib);
          }};
}

}  // namespace ibpod::ipoib
