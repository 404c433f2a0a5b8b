// Keys: reads the configuration of a network, once for all verbs. Each plugin also reads its own
// keys. What cannot be read keeps its default, and is kept as an error: ADD is refused for it, and
// DEL goes on without.
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
#include <utility>
#include <vector>

namespace ibpod::attach {

// What every call needs, whatever it is about: what the node says, and the network.
struct Settings : NodeConfig {
  Settings() = default;
  explicit Settings(const NodeConfig& node) : NodeConfig(node) {}

  Duration timeout{30'000};  // timeoutSeconds
  // Keys of the network and of args.cni that no code has read, by their places.
  std::vector<std::string> unknown;
  // For DEL: a stateDir that this node lets no network set. An attachment of earlier times may have
  // its record there.
  Path refused_state_folder;
};

// What has been read of a network's configuration. `Config` is what one kind of attachment is
// configured with: the Settings, and its own.
template <typename Config>
struct ParsedConfig {
  Config config;
  // About keys that were read in an odd way, or not at all.
  std::vector<std::string> warnings;
  // The first key that is wrong. All but DEL refuse the configuration for it.
  std::optional<Error> error;
};

class Keys {
 public:
  // `verb`: DEL is not warned of keys that it has no use for.
  Keys(const json::Value& document, cni::Verb verb);

  // The network's own keys, those of runtimeConfig and of args.cni, as far as they are there and
  // have been read.
  json::Fields& top() { return top_; }
  std::optional<json::Fields>& runtime() { return runtime_; }
  std::optional<json::Fields>& cni_args() { return cni_args_; }

  // Takes an error, which names key, value and what would be right.
  void refuse(const Status& status);
  // The same of a key that DEL uses as well: without it, DEL does something else. A warning.
  void note(const Status& status);
  // Warns of a key, but for DEL.
  void warn(std::string text);
  // A value, or its default where it cannot be read.
  template <typename T>
  T take(Result<T> read, T otherwise = {}) {
    if (!read) refuse(read.error());
    return read ? std::move(read).value() : std::move(otherwise);
  }

  // `settings` has what the node says. Each that cannot be read keeps that; so does one that the
  // node lets no network set, unless the value is the node's own.
  void read(Settings& settings);
  // A PCI address under deviceID, there or in runtimeConfig, where Multus puts it; empty for none.
  Result<ib::PciAddress> device();
  Result<std::optional<ib::PKey>> pkey();
  Result<std::optional<uint32_t>> mtu();
  // runtimeConfig.CNIDeviceInfoFile: a file of `folder` itself; empty for none.
  Result<Path> device_info(const Path& folder);
  // An absolute path without ".."; empty for none.
  static Result<Path> path(json::Fields& fields, std::string_view key, const std::string& place);

  // Once all keys have been asked for: what has become of the configuration. ADD refuses a key in
  // the network or in args.cni that is a sure slip of another, as a pod would be attached otherwise
  // than its network was meant to; any other that no code has read is a warning.
  template <typename Config>
  ParsedConfig<Config> finish(Config config) && {
    find_unread(config);
    return {std::move(config), std::move(warnings_), std::move(error_)};
  }

 private:
  void read_known();
  Status read_runtime_config();
  Status read_args();
  Status read_timeout(Settings& settings);
  Status read_path(Settings& settings, std::string_view key, Path& value);
  Status read_log_level(Settings& settings);
  Status check_own(const Settings& settings, std::string_view key, bool same) const;
  Status check_slips() const;
  void find_unread(Settings& settings);
  void warn_of_spellings(const json::Fields& fields, const std::string& place);

  cni::Verb verb_;
  json::Fields top_;
  std::optional<json::Fields> runtime_;
  std::optional<json::Fields> args_;
  std::optional<json::Fields> cni_args_;
  std::vector<std::string> warnings_;
  std::optional<Error> error_;
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

// An error of a value's parser, under its key.
template <typename T>
Result<T> at(std::string_view key, Result<T> parsed) {
  return std::move(parsed).during(key);
}

}  // namespace ibpod::attach
