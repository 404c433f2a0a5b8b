// Keys: reads a network's configuration, once for all verbs; each plugin also reads its own keys. A
// key that cannot be read keeps its default, and its error is kept: ADD fails with it, and DEL goes
// on.
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

// The settings that every call needs: the node's, and the network's.
struct Settings : NodeConfig {
  Settings() = default;
  explicit Settings(const NodeConfig& node) : NodeConfig(node) {}

  Duration timeout{30'000};  // timeoutSeconds
  // Keys of the network and of args.cni that no code reads, as JSON paths.
  std::vector<std::string> unknown;
  // For DEL: the network's stateDir, if this node does not let networks set it. An older attachment
  // may have its record there.
  Path refused_state_folder;
};

// A network's configuration. `Config` is the configuration of one kind of attachment: the Settings
// and its own keys.
template <typename Config>
struct ParsedConfig {
  Config config;
  // About keys that were ignored or misspelled.
  std::vector<std::string> warnings;
  // The first wrong key. All verbs but DEL refuse the configuration for it.
  std::optional<Error> error;
};

class Keys {
 public:
  // `verb`: DEL gets no warnings about keys that it does not use.
  Keys(const json::Value& document, cni::Verb verb);

  // The network's own keys, and those of runtimeConfig and args.cni, as far as they are present and
  // readable.
  json::Fields& top() { return top_; }
  std::optional<json::Fields>& runtime() { return runtime_; }
  std::optional<json::Fields>& cni_args() { return cni_args_; }

  // Records an error, which names key, value and correct form.
  void refuse(const Status& status);
  // Records an error of a key that DEL uses as well: DEL behaves differently without it. Also a
  // warning.
  void note(const Status& status);
  // Adds a warning, except for DEL.
  void warn(std::string text);
  // A value, or its default if it cannot be read.
  template <typename T>
  T take(Result<T> read, T otherwise = {}) {
    if (!read) refuse(read.error());
    return read ? std::move(read).value() : std::move(otherwise);
  }

  // `settings` has the node's values. A key keeps that value if it cannot be read, or if the node
  // does not let networks set it and it differs.
  void read(Settings& settings);
  // The PCI address in deviceID of the network or of runtimeConfig, where Multus puts it; empty if
  // there is none.
  Result<ib::PciAddress> device();
  Result<std::optional<ib::PKey>> pkey();
  Result<std::optional<uint32_t>> mtu();
  // runtimeConfig.CNIDeviceInfoFile: a file directly in `folder`; empty if there is none.
  Result<Path> device_info(const Path& folder);
  // An absolute path without ".."; empty if there is none.
  static Result<Path> path(json::Fields& fields, std::string_view key, const std::string& place);

  // The result, after all keys were read. ADD refuses a key of the network or of args.cni that is a
  // likely misspelling of another: the pod would be attached differently than intended. Any other
  // unread key is a warning.
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

// A string; nothing if it is empty. Go programs read an empty string as absent, and tools that
// write such configurations rely on it.
Result<std::optional<std::string>> text(json::Fields& fields, std::string_view key);

// An absolute path without "..", else invalid, naming `place`.
Result<Path> plain_path(const std::string& value, const std::string& place);

// The most partitions of one attachment.
inline constexpr size_t kMostPartitions = 32;

// `partition`: a name. `partitions`: names, or objects with name and membership; IPoIB uses the
// first one's key. args.cni.partition: the pod author's choice if the network has none. invalid if
// two are set and differ, or if `pkey` is set as well.
Result<std::vector<node::PartitionRequest>> read_partitions(Keys& keys);

// Adds the key to the error of a value's parser.
template <typename T>
Result<T> at(std::string_view key, Result<T> parsed) {
  return std::move(parsed).during(key);
}

}  // namespace ibpod::attach
