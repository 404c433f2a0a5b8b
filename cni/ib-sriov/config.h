// What a network of type "ib-sriov" is configured with. Keys and types are those of ib-sriov-cni,
// and ours; docs/configuration.md tells what each one means.
#pragma once

#include "lib/attach/keys.h"
#include "lib/attach/plugin.h"
#include "lib/attach/vf_driver.h"
#include "lib/cni/request.h"

namespace ibpod::ib_sriov {

struct Config : attach::Settings {
  using Settings::Settings;

  attach::VfConfig vf;
};

// As far as it can be read. The error of `invalid` names key, value and what would be right;
// unsupported is for values that are right for others ("dhcp"). The device, or the resource that it
// is one of, is required for ADD and CHECK only: GC and STATUS speak of the network, and DEL has to
// work whatever has become of the configuration since.
attach::ParsedConfig<Config> parse_config(const cni::Call& call, const json::Value& document,
                                          const attach::NodeConfig& node);

// The plugin "ib-sriov": an SR-IOV virtual function with an InfiniBand port, for a pod.
attach::PluginKind plugin_kind();

}  // namespace ibpod::ib_sriov
