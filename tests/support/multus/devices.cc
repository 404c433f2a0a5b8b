#include "tests/support/multus/devices.h"

#include "lib/base/clock.h"
#include "lib/kube/pod_resources.h"

namespace ibpod::multus {
namespace {

using Given = std::map<std::string, std::set<std::string>>;
using json::Value;

constexpr Duration kTimeout{10'000};

Result<Given> ask(const Path& socket, const Pod& pod) {
  const auto pods = TRY(kube::PodResources(socket).list(Deadline::in(kTimeout)));
  Given given;
  if (!pods) return given;
  for (const kube::PodDevices& each : *pods) {
    if (each.name != pod.name || each.namespace_name != pod.name_space) continue;
    for (const kube::ContainerDevices& container : each.containers)
      for (const kube::ResourceDevices& devices : container.devices)
        given[devices.resource].insert(devices.ids.begin(), devices.ids.end());
  }
  return given;
}

// {"PodUID": …, "ResourceName": …, "DeviceIDs": {"NUMA-NODE": [ID…]}}
Status read_entry(const Value& entry, const std::string& uid, Given& given) {
  const Value pod = TRY(entry.at("PodUID"));
  const std::string whose = TRY(pod.string());
  if (whose != uid) return ok();
  const Value resource = TRY(entry.at("ResourceName"));
  const std::string name = TRY(resource.string());
  const Value by_node = TRY(entry.at("DeviceIDs"));
  const auto nodes = TRY(by_node.members());
  for (const auto& [node, list] : nodes) {
    const std::vector<Value> ids = TRY(list.elements());
    for (const Value& each : ids) {
      const std::string id = TRY(each.string());
      given[name].insert(id);
    }
  }
  return ok();
}

Result<Given> read_checkpoint(const Path& file, const Pod& pod) {
  const std::string text = TRY(read_file(file));
  const Value checkpoint = TRY(Value::parse(text));
  const Value data = TRY(checkpoint.at("Data"));
  const Value entries = TRY(data.at("PodDeviceEntries"));
  const std::vector<Value> each = TRY(entries.elements());
  Given given;
  for (const Value& entry : each) TRY(read_entry(entry, pod.uid, given));
  return given;
}

}  // namespace

Result<Devices> Devices::of(const Pod& pod, const Path& kubelet) {
  const Path socket = kubelet / "pod-resources/kubelet.sock";
  const Path checkpoint = kubelet / "device-plugins/kubelet_internal_checkpoint";
  Devices devices;
  devices.left_ =
      TRY(path_exists(socket) ? ask(socket, pod)
                              : read_checkpoint(checkpoint, pod).during("the pod's devices"));
  return devices;
}

std::string Devices::take(const std::string& resource) {
  std::set<std::string>& left = left_[resource];
  if (left.empty()) return "";
  return left.extract(left.begin()).value();
}

}  // namespace ibpod::multus
