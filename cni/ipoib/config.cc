#include "cni/ipoib/config.h"

#include "lib/attach/partition_keys.h"

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
    order_.wanted.pkey = TRY(keys_.pkey());
    TRY(read_partition());
    order_.wanted.mtu = TRY(keys_.mtu());
    order_.wanted.ifname = call_.ifname;
    if (call_.verb == cni::Verb::add) TRY(keys_.check_slips());
    keys_.warn(config_);
    return std::move(config_);
  }

  Config remains() {
    keys_.read_remains(config_);
    // For the log alone: a record knows its own.
    const auto master = text(keys_.top(), "master");
    if (master) order_.master = master->value_or("");
    return std::move(config_);
  }

 private:
  // What the configuration itself names goes before what Multus puts into every network of a pod
  // that has a device of some plugin's, whatever that device is.
  Status read_master() {
    const std::optional<std::string> master = TRY(text(keys_.top(), "master"));
    const std::optional<std::string> pf = TRY(text(keys_.top(), "pf"));
    order_.master = master.value_or("");
    if (pf) order_.device = TRY(at("pf", ib::PciAddress::parse(*pf)));
    TRY(master || pf ? ignore_device() : read_device());
    const bool required = call_.verb == cni::Verb::add || call_.verb == cni::Verb::check;
    if (!required || !order_.master.empty() || !order_.device.empty()) return ok();
    return Error(
        Code::invalid,
        "master: it is missing; name the host's IPoIB interface (\"ib0\"), or give the PCI "
        "address of its function under pf or deviceID");
  }

  Status read_device() {
    order_.device = TRY(keys_.device());
    return ok();
  }

  Status ignore_device() {
    const std::optional<json::Value> device = TRY(keys_.top().find("deviceID"));
    if (device)
      config_.warnings.emplace_back("deviceID is ignored: master or pf names the interface");
    return ok();
  }

  Status read_partition() {
    order_.wanted.partitions = TRY(attach::read_partitions(keys_));
    if (order_.wanted.partitions.size() <= 1) return ok();
    return Error(Code::invalid,
                 "partitions: an IPoIB interface is in one partition: name one, and give the pod a "
                 "network for each");
  }

  Status read_mode() {
    const std::optional<std::string> mode = TRY(text(keys_.top(), "mode"));
    if (mode == "datagram")
      order_.mode = nl::IpoibMode::datagram;
    else if (mode == "connected")
      order_.mode = nl::IpoibMode::connected;
    else if (mode)
      return Error(Code::invalid, "mode: expected datagram or connected, got \"" + *mode + "\"");
    const std::optional<bool> umcast = TRY(keys_.top().boolean("umcast"));
    order_.umcast = umcast.value_or(order_.umcast);
    return ok();
  }

  const cni::Call& call_;
  Keys keys_;
  Config config_;
  attach::ChildOrder& order_ = config_.order;
};

}  // namespace

Result<Config> parse_config(const cni::Call& call, const cni::Network& network,
                            const attach::NodeConfig& node) {
  TRY(attach::check_ipam(network));
  Keys keys = TRY(Keys::of(network.document));
  return Reader(call, std::move(keys), node).read();
}

Config parse_remains(const cni::Call& call, const json::Value& document,
                     const attach::NodeConfig& node) {
  Result<Keys> keys = Keys::of(document);
  if (!keys) return Config(node);
  return Reader(call, std::move(*keys), node).remains();
}

}  // namespace ibpod::ipoib
