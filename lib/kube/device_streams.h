// DeviceStreams: the open ListAndWatch streams, each of which is sent the latest list of devices.
#pragma once

#include "lib/kube/deviceplugin.grpc.pb.h"
#include "lib/kube/registration_state.h"

#include <memory>
#include <mutex>
#include <set>

namespace ibpod::kube {

// Safe to use from any thread. A stream costs no thread while nothing changes.
class DeviceStreams {
 public:
  using List = v1beta1::ListAndWatchResponse;
  using Reactor = grpc::ServerWriteReactor<List>;

  explicit DeviceStreams(RegistrationState& state) : state_(state) {}
  DeviceStreams(const DeviceStreams&) = delete;
  DeviceStreams& operator=(const DeviceStreams&) = delete;
  DeviceStreams(DeviceStreams&&) = delete;
  DeviceStreams& operator=(DeviceStreams&&) = delete;
  // After the server has stopped: no stream is left.
  ~DeviceStreams();

  // A new stream. It is sent the list at once, and gone when gRPC is done with it.
  Reactor* add();
  // Sends a list to every stream. What is published while a stream still sends is sent after it,
  // only the newest.
  void publish(List list);
  // Ends all streams; new ones end at once, until allow().
  void end();
  void allow();

 private:
  class Stream;
  std::mutex mutex_;
  RegistrationState& state_;
  std::shared_ptr<const List> list_ = std::make_shared<List>();
  std::set<Stream*> streams_;
  bool ended_ = false;
};

}  // namespace ibpod::kube
