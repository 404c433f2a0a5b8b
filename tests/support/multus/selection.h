// Selection: what a pod's annotation k8s.v1.cni.cncf.io/networks asks for, one network each.
#pragma once

#include "lib/base/result.h"
#include "lib/json/value.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::multus {

struct Selection {
  std::string name;
  std::string name_space;
  std::string interface;
  std::string mac;
  std::string guid;
  std::vector<std::string> ips;
  std::string device;  // for a network that names no resource
  std::optional<json::Value> cni_args;
};

// Either form: "blue,team-a/red@ib1", or a list in JSON. A network is the pod's namespace's unless
// it says otherwise. Addresses must be some, a GUID no more than a hardware address of any length.
Result<std::vector<Selection>> parse_selections(const std::string& annotation,
                                                const std::string& pods_namespace);

}  // namespace ibpod::multus
