// Keeper: the thread behind a DevicePlugin, which makes the socket, registers, waits for what goes
// wrong, and begins again.
#pragma once

#include "lib/base/back_off.h"
#include "lib/kube/device_plugin.h"
#include "lib/kube/device_service.h"
#include "lib/kube/file_identity.h"
#include "lib/kube/register_call.h"
#include "lib/kube/watcher_service.h"
#include "lib/rpc/server.h"

#include <atomic>
#include <optional>
#include <thread>

namespace ibpod::kube {

class DevicePlugin::Keeper {
 public:
  Keeper(Resource& resource, Kubelet kubelet, Wake wake);
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  Keeper(Keeper&&) = delete;
  Keeper& operator=(Keeper&&) = delete;
  ~Keeper() { stop(); }

  Status check() const;
  void start();
  Status publish() { return service_.publish(); }
  Registration registration() const { return standing_.registration(); }
  void stop();

 private:
  void run();
  Status attempt();
  Status serve(const Path& socket);
  Status register_legacy();
  void withdraw();
  void await_next_attempt();
  bool kubelet_is_new() const;
  void wait(Deadline deadline);

  const std::string resource_;
  const Options options_;
  const Kubelet kubelet_;
  Standing standing_;
  DeviceService service_;
  BackOff back_off_;
  // Of the present attempt:
  Mode mode_ = Mode::automatic;
  Path kubelet_socket_;
  std::optional<FileIdentity> kubelet_seen_;
  std::optional<WatcherService> watcher_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<RegisterCall> call_;
  std::optional<FolderWatch> watch_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace ibpod::kube
