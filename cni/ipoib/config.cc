#include "cni/ipoib/config.h"

#include "lib/attach/keys.h"

namespace ibpod::ipoib {
namespace {

using attach::at;
using attach::Keys;
using attach::text;

// The keys of a network, in the groups that belong together. Each reads its own and fills the
// Config.
class Reader {
 public:
  Reader(const cni::Call& call, Keys keys, const attach::NodeConfig& node)
      : call_(call), keys_(std::move(keys)), config_(node) {}

  Result<Config> read() {
    TRY(keys_.read(config_));
    TRY(read_master());
    TRY(read_mode());
    ipoib_.spec.pkey = TRY(keys_.pkey());
    TRY(read_partition());
    ipoib_.spec.mtu = TRY(keys_.mtu());
    ipoib_.spec.ifname = call_.ifname;
    if (call_.verb == cni::Verb::add) TRY(keys_.check_slips());
    keys_.warn(config_);
    return std::move(config_);
  }

  Config read_lenient() {
    keys_.read_lenient(config_);
    // For the log alone: a record knows its own.
    const auto master = text(keys_.top(), "master");
    if (master) ipoib_.master = master->value_or("");
    return std::move(config_);
  }

 private:
  // What the configuration itself names goes before what Multus puts into every network of a pod
  // that has a device of some plugin's, whatever that device is.
  Status read_master() {
    const std::optional<std::string> master = TRY(text(keys_.top(), "master"));
    const std::optional<std::string> pf = TRY(text(keys_.top(), "pf"));
    ipoib_.master = master.value_or("");
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
    if (device)
      config_.warnings.emplace_back("deviceID is ignored: master or pf names the interface");
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
    if (mode == "datagram")
      ipoib_.mode = nl::IpoibMode::datagram;
    else if (mode == "connected")
      ipoib_.mode = nl::IpoibMode::connected;
    else if (mode)
      return Error(Code::invalid, "mode: expected datagram or connected, got \"" + *mode + "\"");
    const std::optional<bool> umcast = TRY(keys_.top().boolean("umcast"));
    ipoib_.umcast = umcast.value_or(ipoib_.umcast);
    return ok();
  }

  const cni::Call& call_;
  Keys keys_;
  Config config_;
  attach::IpoibConfig& ipoib_ = config_.ipoib;
};

}  // namespace

Result<Config> parse_config(const cni::Call& call, const cni::Network& network,
                            const attach::NodeConfig& node) {
  TRY(attach::check_ipam(network));
  Keys keys = TRY(Keys::of(network.document));
  return Reader(call, std::move(keys), node).read();
}

Config parse_lenient(const cni::Call& call, const json::Value& document,
                     const attach::NodeConfig& node) {
  Result<Keys> keys = Keys::of(document);
  if (!keys) return Config(node);
  return Reader(call, std::move(*keys), node).read_lenient();
}

}  // namespace ibpod::ipoib
