// Config: the configuration of ibpod-sm, from one file: a JSON object with // and /* */ comments.
// docs/ibpod-sm.md has every key. Unknown keys are errors.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/http/address.h"
#include "lib/log/log.h"
#include "lib/rpc/tls_files.h"
#include "sm/api/authn.h"
#include "sm/api/token_authenticator.h"
#include "sm/opensm/opensm.h"
#include "sm/state/policy.h"
#include "sm/ufm/settings.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ibpod::sm::config {

// opensm: OpenSM enforces the file that ibpod-sm writes. ufm: UFM's OpenSM enforces the partitions
// that ibpod-sm gives to UFM. observe: another subnet manager enforces its own partitions, and
// ibpod-sm only reads.
enum class EngineKind { opensm, ufm, observe };

// The TCP address of the API.
struct Listening {
  http::Address address;
  rpc::TlsFiles tls;
};

// The port of this machine for requests to other ports. Empty name: the first device; 0: its first
// active port.
struct OwnPort {
  std::string device;
  uint8_t port = 0;
};

struct UfmSettings {
  ufm::ClientSettings client = {};
  ufm::EngineSettings engine{.pkeys = pool::PKeyPool::make({}).value(), .folder = {}};
};

struct Config {
  state::Policy policy = {};
  api::RoleRules authority;  // "roles" in the file
  // Their agents authenticate by tokens. policy.clusters has their names.
  std::vector<api::Cluster> clusters = {};
  std::string fabric = "default";
  Path state_folder = "/var/lib/ibpod-sm";
  Path socket = "/run/ibpod/sm.sock";
  std::optional<Listening> listening = {};
  http::Address metrics{.host = "127.0.0.1", .port = 9465, .socket = {}};

  EngineKind engine = EngineKind::opensm;
  // With the engine ufm only the M_Key of `opensm` is used, and with observe as well.
  opensm::OpenSmEngineSettings opensm = {};
  std::optional<UfmSettings> ufm = {};  // there if, and only if, the engine is ufm

  OwnPort port = {};
  size_t window = 16;     // packets on the wire at once
  Duration scan{60'000};  // the interval of full scans
  Path declared = {};     // the file of declared partitions; empty: none
  Duration call_timeout{30'000};
  log::Level log_level = log::Level::info;
};

// invalid with all errors, one per line: "opensm.priority: expected …".
Result<Config> read_config(std::string_view text);

}  // namespace ibpod::sm::config
