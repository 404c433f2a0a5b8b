// FakeKubelet: a model of what a kubelet does with device plugins and pod resources, over real
// sockets in a folder of its own.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/wake.h"
#include "lib/kube/file_identity.h"
#include "lib/kube/podresources.grpc.pb.h"
#include "lib/kube/resource.h"
#include "tests/support/fake_endpoint.h"
#include "tests/support/temp_folder.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace ibpod {

// The kubelet's knowledge of a resource.
struct PluginSeen {
  int registrations = 0;   // that succeeded, since the test began
  bool listening = false;  // else all its devices are unhealthy
  kube::Options options = {};
  std::vector<kube::Device> devices = {};  // of the last list
  std::vector<size_t> list_sizes = {};     // of all lists, since the test began
};

class FakeKubelet {
 public:
  // With a plugin watcher it has a folder plugins_registry.
  explicit FakeKubelet(bool plugin_watcher);
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;
  FakeKubelet(FakeKubelet&&) = delete;
  FakeKubelet& operator=(FakeKubelet&&) = delete;
  ~FakeKubelet();

  const Path& root() const { return folder_.path(); }
  // It runs from the beginning. A start removes the sockets in device-plugins and makes
  // kubelet.sock.
  void stop();
  void start();
  // The next registrations are refused.
  void refuse(int times);
  // Ends the streams of a resource; it does not ask again by itself.
  void hang_up(const std::string& resource);

  PluginSeen seen(const std::string& resource) const;
  // Waits until what is seen is as wanted; false after 30 s.
  bool await(const std::string& resource, const std::function<bool(const PluginSeen&)>& wanted);

  // For one container.
  Result<v1beta1::ContainerAllocateResponse> allocate(const std::string& resource,
                                                      const kube::DeviceIds& ids);
  Result<kube::DeviceIds> prefer(const std::string& resource, const kube::DeviceIds& available,
                                 const kube::DeviceIds& must_include, int size);
  Status pre_start(const std::string& resource, const kube::DeviceIds& ids);

  // Sets the answer of pod-resources.
  void set_pods(::v1::ListPodResourcesResponse pods);
  void refuse_pods(grpc::Status status);
  Path pod_resources() const { return root() / "pod-resources/kubelet.sock"; }

 private:
  class Registration;
  class Pods;
  struct Plugin {
    PluginSeen seen;
    std::shared_ptr<FakeEndpoint> endpoint;
  };
  std::shared_ptr<FakeEndpoint> endpoint(const std::string& resource) const;
  // Takes a connection out; its end is to be outside of the lock, where its thread can tell of it.
  static std::shared_ptr<FakeEndpoint> take(Plugin& plugin);
  // Asks for the options and begins to listen.
  grpc::Status admit(const std::string& resource, const Path& socket);
  void take_list(const std::string& resource, const FakeEndpoint* from,
                 const FakeEndpoint::List& list);
  void take_end(const std::string& resource, const FakeEndpoint* from);
  bool refuses();
  // The plugin watcher.
  void watch_plugins();
  bool meet_plugins();
  bool meet(const Path& socket);

  TempFolder folder_;
  const bool plugin_watcher_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Plugin> plugins_;
  int refusals_ = 0;
  ::v1::ListPodResourcesResponse pods_;
  grpc::Status pods_status_;

  std::unique_ptr<Registration> registration_;
  std::unique_ptr<Pods> pod_service_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<Wake> stopping_;
  std::map<std::string, kube::FileIdentity> met_;  // the watcher's: sockets in plugins_registry
  std::thread watcher_;
};

}  // namespace ibpod
