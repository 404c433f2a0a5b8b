// A plugin's call and its network, as the tests of its configuration read them.
#pragma once

#include "lib/attach/keys.h"
#include "lib/cni/request.h"

#include <string>
#include <utility>
#include <vector>

namespace ibpod::attach {

inline cni::Call a_call(cni::Verb verb = cni::Verb::add) {
  cni::Call made;
  made.verb = verb;
  made.container_id = "c1";
  made.netns = "/run/netns/pod";
  made.ifname = "net1";
  return made;
}

// `keys` follow name and type.
inline cni::Network a_network(const std::string& type, const std::string& keys) {
  const std::string text = R"({"name":"blue","type":")" + type + "\"" +
                           std::string(keys.empty() ? "" : ",") + keys + "}";
  return cni::parse_network(cni::parse_document(text).value(), text).value();
}

// The input of ADD: the configuration with its warnings, or the error that refuses it.
template <typename Config>
struct Accepted : Config {
  std::vector<std::string> warnings;
};
template <typename Config>
Result<Accepted<Config>> accepted(ParsedConfig<Config> parsed) {
  if (parsed.error) return *parsed.error;
  return Accepted<Config>{{std::move(parsed.config)}, std::move(parsed.warnings)};
}

}  // namespace ibpod::attach
