// RegistrationAttempt: one attempt to register a resource: its socket, and either the plugin
// watcher's service on it or the call to the kubelet.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/folder_watch.h"
#include "lib/kube/device_service.h"
#include "lib/kube/file_identity.h"
#include "lib/kube/register_call.h"
#include "lib/kube/registration_state.h"
#include "lib/kube/watcher_service.h"
#include "lib/rpc/server.h"

#include <memory>
#include <optional>
#include <string>

namespace ibpod::kube {

// The name of a resource's socket in the kubelet's folder.
std::string socket_name(std::string resource);

// A new attempt makes a new socket: only that makes a plugin watcher look again.
class RegistrationAttempt {
 public:
  // Both outlive it.
  struct Deps {
    RegistrationState& state;
    DeviceService& service;
  };
  // `mode`: watcher or legacy. `folder`: the kubelet's folder for it.
  RegistrationAttempt(const Deps& deps, std::string resource, Mode mode, Path folder);
  RegistrationAttempt(const RegistrationAttempt&) = delete;
  RegistrationAttempt& operator=(const RegistrationAttempt&) = delete;
  RegistrationAttempt(RegistrationAttempt&&) = delete;
  RegistrationAttempt& operator=(RegistrationAttempt&&) = delete;
  // Ends the streams and removes the socket. Calls in progress have 300 ms.
  ~RegistrationAttempt();

  // Serves the socket, and calls the kubelet in mode legacy. Call it once. After an error the
  // folder may be watched all the same.
  Status begin(const Options& options);
  // True while the socket that it serves is in its folder.
  bool is_in_place() const { return server_ && server_->in_place(); }
  // True if another kubelet listens than the one that was called. In mode watcher the kubelet finds
  // the socket by itself.
  bool kubelet_was_replaced() const;
  // Until the state has changed or its wake was rung, the folder has changed, or the deadline.
  void wait(Deadline deadline);

 private:
  Status serve();
  Status register_legacy(const Options& options);
  Path kubelet_socket() const { return folder_ / "kubelet.sock"; }

  Deps deps_;
  std::string resource_;
  Mode mode_;
  Path folder_;
  std::optional<FileIdentity> kubelet_seen_;
  std::optional<FolderWatch> watch_;
  std::optional<WatcherService> watcher_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<RegisterCall> call_;
};

}  // namespace ibpod::kube
