// Delegate: one network that is called for a pod, with everything that the pod asked of it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/cni/version.h"
#include "lib/json/value.h"
#include "tests/support/multus/objects.h"
#include "tests/support/multus/selection.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::multus {

struct Delegate {
  std::string name;  // "team-a/blue", or the configuration's own
  std::string ifname;
  bool is_default = false;    // the cluster's own network
  json::Value configuration;  // a plugin's or a list of them, with device and cni-args
  json::Value wishes =
      json::Value::object();  // runtimeConfig, for plugins that declare the capability
  std::string arguments;      // appended to CNI_ARGS: the old way to ask for addresses
  std::string resource;       // of the device, empty without one
  std::string device;
  std::optional<json::Value> result;  // what it has answered ADD with; kept apart (cache.h)

  // "plugins" of a list, or the configuration itself.
  Result<std::vector<json::Value>> plugins() const;
  Result<cni::Version> version() const;
};

json::Value to_json(const Delegate& delegate);
Result<Delegate> read_delegate(const json::Value& value);

// The networks of the Multus configuration itself: the first one is the cluster's and gets
// CNI_IFNAME, the others net1, net2 …
Result<std::vector<Delegate>> configured_delegates(const json::Value& list,
                                                   const std::string& ifname);

// The delegate for a selection in the annotation that replaces the cluster's network: the pod's
// network as it is, without any runtimeConfig.
Delegate as_default(Delegate delegate, const Selection& selection, const std::string& ifname);

// A network that the pod asks for. `device` is empty where it names no resource, or none is left.
Result<Delegate> pods_delegate(const Network& network, const Selection& selection,
                               const std::string& device, const std::string& ifname);

}  // namespace ibpod::multus
