// RegistrationLoop: the thread behind a DevicePlugin, which attempts to register, waits for what
// goes wrong, and begins again.
#pragma once

#include "lib/base/back_off.h"
#include "lib/kube/device_plugin.h"
#include "lib/kube/device_service.h"
#include "lib/kube/registration_attempt.h"

#include <atomic>
#include <optional>
#include <string>
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
  void await_next_attempt();

  const std::string resource_;
  const Options options_;
  const KubeletOptions kubelet_;
  RegistrationState state_;
  DeviceService service_;
  BackOff back_off_;
  std::optional<RegistrationAttempt> attempt_;  // the present one
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace ibpod::kube
