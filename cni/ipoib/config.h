// What a network of type "ipoib" is configured with. Keys and types are those of ipoib-cni, and
// ours; docs/ipoib.md tells what each one means.
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

// As far as it can be read. The error of `invalid` names key, value and what would be right;
// unsupported is for values that are right for others ("dhcp"). The master is required for ADD and
// CHECK only: GC and STATUS speak of the network, and a record knows its own.
attach::ParsedConfig<Config> parse_config(const cni::Call& call, const json::Value& document,
                                          const attach::NodeConfig& node);

// The plugin "ipoib": an IPoIB child of one of the host's interfaces, for a pod.
attach::PluginKind plugin_kind();

}  // namespace ibpod::ipoib
