// Objects: the pods and networks of a cluster, as files in the place of an API server. Each is at
// the path under which that would serve it, so that a web server can be one for the folder:
//   api/v1/namespaces/NAMESPACE/pods/NAME
//   apis/k8s.cni.cncf.io/v1/namespaces/NAMESPACE/network-attachment-definitions/NAME
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/json/value.h"

#include <optional>
#include <string>

namespace ibpod::multus {

struct Pod {
  std::string name;
  std::string name_space;
  std::string uid;
  std::string networks;         // the annotation; empty where there is none
  std::string default_network;  // v1.multus-cni.io/default-network, likewise
};

struct Network {
  json::Value
      configuration;     // a plugin's, or a list of them; with the network's name if it has none
  std::string resource;  // the annotation k8s.v1.cni.cncf.io/resourceName
};

class Objects {
 public:
  explicit Objects(Path folder) : folder_(std::move(folder)) {}

  // Nothing where there is none.
  Result<std::optional<Pod>> pod(const std::string& name_space, const std::string& name) const;
  // not_found where there is none.
  Result<Network> network(const std::string& name_space, const std::string& name) const;
  // Writes the annotation k8s.v1.cni.cncf.io/network-status of a pod.
  Status write_status(const Pod& pod, const json::Value& networks) const;

 private:
  Path pod_file(const std::string& name_space, const std::string& name) const;
  Path folder_;
};

}  // namespace ibpod::multus
