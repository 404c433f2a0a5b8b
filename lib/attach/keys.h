// Keys: reads the configuration of a network, as far as all plugins of attachments share it. Each
// plugin also reads its own keys; a key that no code has read causes a warning.
#pragma once

#include "lib/attach/node_config.h"
#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/cni/request.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/pkey.h"
#include "lib/json/fields.h"
#include "lib/log/log.h"
#include "lib/node/record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::attach {

// What every call needs, whatever it is about: what the node says, and the network.
struct Settings : NodeConfig {
  Settings() = default;
  explicit Settings(const NodeConfig& node) : NodeConfig(node) {}

  Duration timeout{30'000};  // timeoutSeconds
  // About keys that were read in an odd way, or not at all.
  std::vector<std::string> warnings;
  // Keys of the network and of args.cni that no code has read, by their places.
  std::vector<std::string> unknown;
  // For DEL: a stateDir that this node lets no network set. An attachment of earlier times may have
  // its record there.
  Path refused_state_folder;
};

class Keys {
 public:
  // invalid where `document` is no object.
  static Result<Keys> of(const json::Value& document);

  // The network's own keys, those of runtimeConfig and of args.cni, as far as they are there and
  // have been read.
  json::Fields& top() { return top_; }
  std::optional<json::Fields>& runtime() { return runtime_; }
  std::optional<json::Fields>& cni_args() { return cni_args_; }

  // `settings` has what the node says. invalid names key, value and what would be right; also for a
  // key that the node lets no network set, unless the value is the node's own.
  Status read(Settings& settings);
  // The same for a configuration that may be wrong: each that cannot be read, or not be set here,
  // is a warning and has the node's value.
  void read_lenient(Settings& settings);
  // A PCI address under deviceID, there or in runtimeConfig, where Multus puts it; empty for none.
  Result<ib::PciAddress> device();
  Result<std::optional<ib::PKey>> pkey();
  Result<std::optional<uint32_t>> mtu();
  // runtimeConfig.CNIDeviceInfoFile: a file of `folder` itself; empty for none.
  Result<Path> device_info(const Path& folder);
  // An absolute path without ".."; empty for none.
  static Result<Path> path(json::Fields& fields, std::string_view key, const std::string& place);

  // For ADD, once all keys have been asked for: invalid for one in the network or in args.cni that
  // is a sure slip of another, as a pod would be attached otherwise than its network was meant to.
  Status check_slips() const;
  // Adds warnings about the keys that no code has read, or that were found under another spelling.
  void warn(Settings& settings) const;

 private:
  explicit Keys(json::Fields top) : top_(std::move(top)) {}
  Status read_runtime_config();
  Status read_args();
  Status read_timeout(Settings& settings);
  Status read_path(Settings& settings, std::string_view key, Path& value);
  Status read_log_level(Settings& settings);
  Status check_own(const Settings& settings, std::string_view key, bool same) const;

  json::Fields top_;
  std::optional<json::Fields> runtime_;
  std::optional<json::Fields> args_;
  std::optional<json::Fields> cni_args_;
};

// A string; nothing for an empty one. Go's readers take it for an absent one, and tools that write
// such configurations rely on it.
Result<std::optional<std::string>> text(json::Fields& fields, std::string_view key);

// An absolute path without "..", else invalid; `place` is what names it.
Result<Path> plain_path(const std::string& value, const std::string& place);

// One attachment's at the most.
inline constexpr size_t kMostPartitions = 32;

// `partition`: a name; `partitions`: names, or objects with name and membership, the first one's
// key for IPoIB; args.cni.partition: a name that the pod's author asks for, if the network leaves
// it open. invalid if both are set and differ, or if `pkey` is set as well: it is not clear which
// one is meant.
Result<std::vector<node::PartitionRequest>> read_partitions(Keys& keys);

// unsupported for an IPAM that cannot serve InfiniBand.
Status check_ipam(const cni::Network& network);

// An error of a value's parser, under its key.
template <typename T>
Result<T> at(std::string_view key, Result<T> parsed) {
  return std::move(parsed).during(key);
}

}  // namespace ibpod::attach
