// Config: the configuration of fake_ufm, from a JSON object with // and /* */ comments.
// docs/ufm-stand-in.md has every key.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/http/address.h"
#include "lib/json/value.h"
#include "tests/support/ufm/accounts.h"
#include "tests/support/ufm/inventory.h"
#include "tests/support/ufm/partitions_writer.h"
#include "tests/support/ufm/rest_settings.h"
#include "tests/support/ufm/state.h"
#include "tests/support/ufm/tls.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fake_ufm {

struct UserConfig {
  std::string name;
  std::string password;
  Role role = Role::administrator;
};

struct TlsListening {
  http::Address address;
  TlsFiles files;
};

struct Config {
  std::optional<TlsListening> tls = {};
  std::optional<http::Address> plain = {};    // the same interface without TLS
  std::optional<http::Address> control = {};  // switches and faults: not for clients of a UFM

  std::vector<UserConfig> users = {};
  std::map<std::string, std::string> tokens = {};        // to users
  std::map<std::string, std::string> certificates = {};  // common names to users

  Switches switches = {};
  RestSettings rest = {};
  std::vector<Port> ports = {};
  std::vector<Vport> vports = {};
  bool virtualization = false;

  PartitionsWriter::Target opensm = {};  // no path of partitions.conf: it is not written
  EffectDelay effect = Duration(0);
};

// invalid, with the key and what would be right. Reads the files of certificates and keys.
Result<Config> read_config(std::string_view text);

// An object with the paths "certificate", "key" and, if there is one, "client_ca".
Result<TlsFiles> read_tls_files(const json::Value& object);
// A number of milliseconds, or "never".
Result<EffectDelay> read_effect(const json::Value& value);

}  // namespace ibpod::fake_ufm
