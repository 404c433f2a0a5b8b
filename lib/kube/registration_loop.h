// Keeper: the thread behind a DevicePlugin, which makes the socket, registers, waits for what goes
// wrong, and begins again.
#pragma once

#include "lib/base/back_off.h"
#include "lib/base/folder_watch.h"
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

class DevicePlugin::RegistrationLoop {
 public:
  RegistrationLoop(Resource& resource, KubeletOptions kubelet, Wake wake);
  RegistrationLoop(const RegistrationLoop&) = delete;
  RegistrationLoop& operator=(const RegistrationLoop&) = delete;
  RegistrationLoop(RegistrationLoop&&) = delete;
  RegistrationLoop& operator=(RegistrationLoop&&) = delete;
  ~RegistrationLoop() { stop(); }

  Status check() const;
  void start();
  Status publish() { return service_.publish(); }
  Registration registration() const { return state_.registration(); }
  void stop();

 private:
  void run();
  Status attempt();
  Status serve(const Path& socket);
  Status register_legacy();
  void withdraw();
  void await_next_attempt();
  bool kubelet_was_replaced() const;
  void wait(Deadline deadline);

  const std::string resource_;
  const Options options_;
  const KubeletOptions kubelet_;
  RegistrationState state_;
  DeviceService service_;
  BackOff back_off_;
  // State of the present attempt:
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
