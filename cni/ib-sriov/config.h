// The configuration of a network of type "ib-sriov". It has the keys and types of ib-sriov-cni, and
// some of our own; see docs/configuration.md.
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

// Reads as much as possible. An error `invalid` names key, value and correct form; `unsupported` is
// for values that other plugins accept ("dhcp"). Only ADD and CHECK require the device or its
// resource: DEL must work even if the configuration has changed since.
attach::ParsedConfig<Config> parse_config(const cni::Call& call, const json::Value& document,
                                          const attach::NodeConfig& node);

// The plugin "ib-sriov": gives a pod an SR-IOV virtual function with an InfiniBand port.
attach::PluginKind plugin_kind();

}  // namespace ibpod::ib_sriov
