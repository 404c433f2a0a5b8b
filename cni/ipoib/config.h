// What a network of type "ipoib" is configured with. Keys and types are those of ipoib-cni, and
// ours; docs/ipoib.md tells what each one means.
#pragma once

#include "lib/attach/ipoib_driver.h"
#include "lib/attach/keys.h"
#include "lib/base/result.h"
#include "lib/cni/request.h"

namespace ibpod::ipoib {

struct Config : attach::Settings {
  using Settings::Settings;

  attach::IpoibConfig ipoib;
};

// invalid names key, value and what would be right; unsupported is for values that are right for
// others ("dhcp"). The master is required for ADD and CHECK only: GC and STATUS speak of the
// network.
Result<Config> parse_config(const cni::Call& call, const cni::Network& network,
                            const attach::NodeConfig& node);

// What can be read of a configuration that may be wrong. Each key that cannot is a warning, and has
// its default. For the log of a call that is refused, and for DEL.
Config parse_lenient(const cni::Call& call, const json::Value& document,
                     const attach::NodeConfig& node);

}  // namespace ibpod::ipoib
