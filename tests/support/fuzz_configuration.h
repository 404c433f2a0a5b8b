// Every configuration that was accepted keeps these promises, or the program aborts, which is what
// a fuzzer looks for.
#pragma once

#include "lib/attach/keys.h"
#include "lib/node/record.h"
#include "tests/support/fuzz.h"

namespace ibpod::fuzz {

inline bool is_plain(const Path& path) {
  for (const Path& part : path) {
    if (part == "..") return false;
  }
  return path.is_absolute() && path.string().find('\0') == std::string::npos;
}

// One that leaves to networks what is its own to say, so that it is read.
inline attach::NodeConfig any_node() {
  attach::NodeConfig node;
  node.allow_in_networks = true;
  return node;
}

inline void check_settings(const attach::Settings& settings) {
  require(is_plain(settings.state_folder));
  require(settings.log_file.empty() || is_plain(settings.log_file));
  require(settings.timeout >= Duration(1'000) && settings.timeout <= Duration(110'000));
}

// Compares the settings by which a call finds the records and the agent.
inline bool same(const attach::Settings& one, const attach::Settings& other) {
  return one.state_folder == other.state_folder && one.agent_socket == other.agent_socket &&
         one.log_file == other.log_file && one.timeout == other.timeout;
}

inline void check_spec(const node::Spec& spec) {
  if (spec.guids) require(ib::check_port_guid(spec.guids->port).ok());
  if (spec.pkey) require(ib::check_tenant(*spec.pkey).ok());
  if (spec.mtu) require(*spec.mtu >= 68 && *spec.mtu <= 65520);
}

}  // namespace ibpod::fuzz
