// Resource: what a pool of devices is to the kubelet. The pool implements it, DevicePlugin serves
// it.
#pragma once

#include "lib/base/result.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::kube {

// One device, as it is advertised.
struct Device {
  std::string id;  // 1 to 63 bytes, unique in the resource
  bool healthy = true;
  std::optional<int> numa = {};  // the NUMA node it is near to
  bool operator==(const Device&) const = default;
};

using DeviceIds = std::vector<std::string>;

struct Mount {
  std::string container_path;
  std::string host_path;
  bool read_only = false;
};

struct DeviceNode {
  std::string container_path;
  std::string host_path;
  std::string permissions;  // of r, w and m
};

// The parts of a container for its devices. If several resources of a container give the same
// variable, path or annotation, the kubelet keeps the first one's.
struct Allocation {
  std::map<std::string, std::string> envs = {};
  std::vector<Mount> mounts = {};
  std::vector<DeviceNode> devices = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<std::string> cdi_devices = {};  // "vendor/class=name"; kubelets from 1.28
};

struct Options {
  bool pre_start = false;  // pre_start() is to be called before each start of a container
  bool prefers = false;    // prefer() is to be asked before each allocation
};

// The thread that starts or publishes calls name(), options() and devices(). gRPC's threads call
// the others, several at once and beside everything else. The kubelet waits for allocate() and
// prefer() without a deadline and admits no other pod of the node meanwhile, so they must not
// block.
class Resource {
 public:
  virtual ~Resource() = default;

  // "example.com/ib_vf"; never another.
  virtual std::string name() const = 0;
  virtual Options options() const = 0;
  // All of them, in any order; none is fine.
  virtual std::vector<Device> devices() = 0;
  // For one container, once; the kubelet keeps the answer for every later start of it.
  virtual Result<Allocation> allocate(const DeviceIds& ids) = 0;
  // Which `size` of the available ones suit best, among them all of `must_include`.
  virtual Result<DeviceIds> prefer(const DeviceIds& available, const DeviceIds& must_include,
                                   size_t size) = 0;
  // May take up to 30 s. An error keeps the container from starting; the kubelet tries again.
  virtual Status pre_start(const DeviceIds& ids) = 0;
};

}  // namespace ibpod::kube
