// A node and its cluster in a folder, for the tests of the stand-in: pods, networks, the kubelet's
// allocations, and plugins that are scripts and keep the input that they are called with.
#pragma once

#include "lib/cni/plugin.h"
#include "tests/support/multus/multus.h"
#include "tests/support/temp_folder.h"

#include <functional>
#include <memory>
#include <set>
#include <string>

namespace ibpod::multus {

class Cluster {
  TempFolder folder_;

 public:
  Cluster() {
    make_folders(folder_.path() / "bin").value();
    std::filesystem::create_directories(folder_.path() / "kubelet/device-plugins");
    folder_.script("bin/plugin", kPlugin);
  }

  // "network" and "pod" are in the namespace team-a; the pod's UID is u1.
  void network(const std::string& name, const std::string& configuration,
               const std::string& resource = "") {
    json::Value annotations = json::Value::object();
    if (!resource.empty()) annotations.set("k8s.v1.cni.cncf.io/resourceName", resource);
    write(kNetworks + name,
          json::Value::object()
              .set("metadata", json::Value::object().set("annotations", annotations))
              .set("spec", json::Value::object().set("config", configuration))
              .text());
  }
  void pod(const std::string& networks, const std::string& default_network = "") {
    json::Value annotations = json::Value::object().set("k8s.v1.cni.cncf.io/networks", networks);
    if (!default_network.empty())
      annotations.set("v1.multus-cni.io/default-network", default_network);
    write(kPod, json::Value::object()
                    .set("metadata",
                         json::Value::object().set("uid", "u1").set("annotations", annotations))
                    .text());
  }
  // Entries of the kubelet's checkpoint.
  void given(const std::string& entries) {
    write("kubelet/device-plugins/kubelet_internal_checkpoint",
          R"({"Data": {"PodDeviceEntries": [)" + entries + "]}, \"Checksum\": 1}");
  }
  void write(const std::string& file, const std::string& content) {
    std::filesystem::create_directories((folder_.path() / file).parent_path());
    folder_.write(file, content);
  }
  void remove(const std::string& file) { std::filesystem::remove_all(folder_.path() / file); }
  void remove_pod() { remove(kPod); }
  void remove_network(const std::string& name) { remove(kNetworks + name); }

  // The pod as the runtime names it, and further CNI_ARGS.
  std::string uid = "u1";
  std::string more_arguments;
  // Interfaces that the pod has had before.
  std::set<std::string> interfaces;
  Path kubelet = path() / "kubelet";

  // `wrap` makes another plugin around Multus.
  using Wrap = std::function<std::unique_ptr<cni::Plugin>(cni::Plugin&)>;
  cni::Answer call(const std::string& verb, const std::string& keys = R"("delegates": [])",
                   const Wrap& wrap = {}) {
    Multus multus([this](const Path&, const std::string& name) -> Result<bool> {
      return interfaces.contains(name);
    });
    const std::string root = folder_.path().string();
    const cni::Environment environment{
        {"CNI_COMMAND", verb},
        {"CNI_CONTAINERID", "c1"},
        {"CNI_NETNS", "/run/netns/pod"},
        {"CNI_IFNAME", "eth0"},
        {"PATH", "/usr/bin:/bin"},
        {"CNI_PATH", "/nowhere"},
        {"FOLDER", root},
        {"CNI_ARGS", "IgnoreUnknown=1;K8S_POD_NAMESPACE=team-a;K8S_POD_NAME=p1;K8S_POD_UID=" + uid +
                         more_arguments}};
    const std::unique_ptr<cni::Plugin> wrapped = wrap ? wrap(multus) : nullptr;
    cni::Plugin& plugin = wrapped ? *wrapped : multus;
    return cni::serve(plugin, environment,
                      R"({"cniVersion": "1.1.0", "name": "multus", "type": "multus", "binDir": ")" +
                          root + R"(/bin", "cniDir": ")" + root + R"(/cache", "kubeletRoot": ")" +
                          kubelet.string() + R"(", "deviceInfoDir": ")" + root +
                          R"(/devinfo", "objects": ")" + root + R"(/objects", )" + keys + "}");
  }

  std::string read(const std::string& file) const {
    return read_file(folder_.path() / file).value();
  }
  // "ADD net1, DEL net1": since the last time.
  std::string calls() {
    std::string list;
    const Result<std::string> lines = read_file(folder_.path() / "calls");
    if (lines) list = *lines;
    remove("calls");
    return list;
  }
  json::Value input(const std::string& verb, const std::string& ifname) const {
    return json::Value::parse(read("input." + verb + "." + ifname)).value();
  }
  json::Value status() const {
    const json::Value object = json::Value::parse(read(kPod)).value();
    const json::Value annotations = *object.find("metadata")->find("annotations");
    return json::Value::parse(*annotations.find("k8s.v1.cni.cncf.io/network-status")->string())
        .value();
  }
  const Path& path() const { return folder_.path(); }

 private:
  static constexpr const char* kPod = "objects/api/v1/namespaces/team-a/pods/p1";
  static inline const std::string kNetworks =
      "objects/apis/k8s.cni.cncf.io/v1/namespaces/team-a/network-attachment-definitions/";
  // A file broken.VERB.IFNAME makes that call fail; with a file "none" there is no interface.
  static constexpr const char* kPlugin = R"(cd "$FOLDER"
printf '%s %s, ' "$CNI_COMMAND" "$CNI_IFNAME" >>calls
cat >"input.$CNI_COMMAND.$CNI_IFNAME"
echo "$CNI_ARGS" >"args.$CNI_IFNAME"
if [ -e "broken.$CNI_COMMAND.$CNI_IFNAME" ]; then
  echo '{"cniVersion": "1.1.0", "code": 11, "msg": "later", "details": "d"}'
  exit 1
fi
if [ -e none ]; then
  echo '{"cniVersion": "1.1.0"}'
  exit
fi
if [ "$CNI_COMMAND" = ADD ]; then
  echo '{"cniVersion": "1.1.0", "interfaces": [{"name": "'"$CNI_IFNAME"'", "mac": "02:00", "mtu": 2044,
    "sandbox": "'"$CNI_NETNS"'"}], "ips": [{"address": "10.7.0.1/24", "interface": 0}], "ibpod": {"unverified": ["0x8001"]}}'
fi)";
};

}  // namespace ibpod::multus
