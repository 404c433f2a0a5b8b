// FakeEndpoint: the kubelet's end of one connection to a device plugin.
#pragma once

#include "lib/base/files.h"
#include "lib/kube/deviceplugin.grpc.pb.h"
#include "lib/kube/pluginregistration.grpc.pb.h"

#include <functional>
#include <memory>
#include <thread>

#include <grpcpp/grpcpp.h>

namespace ibpod {

// With the kubelet's limits: 4 MiB an answer, 10 s to connect; and the socket's path as :authority,
// as older kubelets have it.
std::shared_ptr<grpc::Channel> dial_plugin(const Path& socket);

class FakeEndpoint {
 public:
  using List = v1beta1::ListAndWatchResponse;

  explicit FakeEndpoint(const Path& socket);
  FakeEndpoint(const FakeEndpoint&) = delete;
  FakeEndpoint& operator=(const FakeEndpoint&) = delete;
  FakeEndpoint(FakeEndpoint&&) = delete;
  FakeEndpoint& operator=(FakeEndpoint&&) = delete;
  // Hangs up.
  ~FakeEndpoint();

  v1beta1::DevicePlugin::Stub& stub() { return *stub_; }
  // Ends the stream, whether it has begun or not.
  void hang_up() { context_.TryCancel(); }
  // ListAndWatch: from a thread of its own, `on_list` for each list, then `on_end` once.
  void listen(std::function<void(const List&)> on_list, std::function<void()> on_end);

 private:
  std::unique_ptr<v1beta1::DevicePlugin::Stub> stub_;
  grpc::ClientContext context_;
  std::thread reader_;
};

}  // namespace ibpod
