// Keys: reads the configuration of a network, as far as all plugins of attachments share it. Each
// plugin asks for its own keys besides; those that nobody has asked for are warned of.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/cni/request.h"
#include "lib/ib/pci_address.h"
#include "lib/ib/pkey.h"
#include "lib/json/fields.h"
#include "lib/log/log.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::attach {

inline constexpr std::string_view kStateFolder = "/var/lib/ibpod";
inline constexpr std::string_view kAgentSocket = "/run/ibpod/agent.sock";

// What every call needs, whatever it is about.
struct Settings {
  Duration timeout{30'000};  // timeoutSeconds
  log::Level log_level = log::Level::info;
  Path log_file;  // empty: none
  Path state_folder{kStateFolder};
  Path agent_socket;  // agentSocket; empty: none is given
  // What was read in an odd way, or not at all.
  std::vector<std::string> warnings;
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

  // invalid names key, value and what would be right.
  Status read(Settings& settings);
  // The same for a configuration that may be wrong: each that cannot be read is a warning and has
  // its default.
  void read_remains(Settings& settings);
  // A PCI address under deviceID, there or in runtimeConfig, where Multus puts it; empty for none.
  Result<ib::PciAddress> device();
  Result<std::optional<ib::PKey>> pkey();
  Result<std::optional<uint32_t>> mtu();
  // An absolute path without ".."; empty for none.
  static Result<Path> path(json::Fields& fields, std::string_view key, const std::string& place);

  // Adds what is left to say: keys that nobody has asked for, or found under another spelling.
  void warn(Settings& settings) const;

 private:
  explicit Keys(json::Fields top) : top_(std::move(top)) {}
  Status read_runtime_config();
  Status read_args();
  Status read_state_folder(Settings& settings);
  Status read_agent_socket(Settings& settings);
  Status read_timeout(Settings& settings);
  Status read_log_level(Settings& settings);
  Status read_log_file(Settings& settings);

  json::Fields top_;
  std::optional<json::Fields> runtime_;
  std::optional<json::Fields> args_;
  std::optional<json::Fields> cni_args_;
};

// A string; nothing for an empty one. Go's readers take it for an absent one, and tools that write
// such configurations rely on it.
Result<std::optional<std::string>> text(json::Fields& fields, std::string_view key);

// unsupported for an IPAM that cannot serve InfiniBand.
Status check_ipam(const cni::Network& network);

// An error of a value's parser, under its key.
template <typename T>
Result<T> at(std::string_view key, Result<T> parsed) {
  return std::move(parsed).during(key);
}

}  // namespace ibpod::attach
