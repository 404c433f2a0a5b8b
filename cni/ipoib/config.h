// The configuration of a network of type "ipoib". It has the keys and types of ipoib-cni, and some
// of our own; see docs/ipoib.md.
#pragma once

#include "lib/attach/ipoib_driver.h"
#include "lib/attach/keys.h"
#include "lib/attach/plugin.h"
#include "lib/cni/request.h"

namespace ibpod::ipoib {

struct Config : attach::Settings {
  using Settings::Settings;

  attach::IpoibConfig ipoib;
};

// Reads as much as possible. An error `invalid` names key, value and correct form; `unsupported` is
// for values that other plugins accept ("dhcp"). Only ADD and CHECK require the master: GC and
// STATUS are about the network, and a record has its own master.
attach::ParsedConfig<Config> parse_config(const cni::Call& call, const json::Value& document,
                                          const attach::NodeConfig& node);

// The plugin "ipoib": gives a pod an IPoIB child of one of the host's interfaces.
attach::PluginKind plugin_kind();

}  // namespace ibpod::ipoib
