#include "lib/kube/device_streams.h"

#include "lib/rpc/tsan_handover.h"

namespace ibpod::kube {

// All members are guarded by the mutex of its DeviceStreams; gRPC calls back without holding
// anything, and never from inside StartWrite() or Finish().
class DeviceStreams::Stream final : public Reactor {
 public:
  explicit Stream(DeviceStreams& all) : all_(all) {}

  // With the mutex held: begins what is to be done next, if anything.
  void advance() {
    if (sending_ || finished_) return;
    if (ending_ || all_.ended_) {
      finished_ = true;
      Finish({grpc::StatusCode::UNAVAILABLE, "the device plugin is stopping"});
    } else if (sent_ != all_.list_) {
      sending_ = true;
      sent_ = all_.list_;
      StartWrite(sent_.get());
    }
  }

  void OnWriteDone(bool sent) override {
    rpc::take_over(this);
    const std::lock_guard lock(all_.mutex_);
    sending_ = false;
    if (!sent) ending_ = true;
    advance();
  }

  // The kubelet has hung up, or the server is being shut down.
  void OnCancel() override {
    rpc::take_over(this);
    const std::lock_guard lock(all_.mutex_);
    ending_ = true;
    advance();
  }

  void OnDone() override {
    rpc::take_over(this);
    {
      const std::lock_guard lock(all_.mutex_);
      all_.streams_.erase(this);
      all_.state_.hung_up();
      rpc::hand_over(&all_);
    }
    delete this;
  }

 private:
  DeviceStreams& all_;
  std::shared_ptr<const List> sent_;
  bool sending_ = false;
  bool ending_ = false;
  bool finished_ = false;
};

DeviceStreams::~DeviceStreams() { rpc::take_over(this); }

DeviceStreams::Reactor* DeviceStreams::add() {
  const std::lock_guard lock(mutex_);
  auto* stream = new Stream(*this);  // until OnDone()
  streams_.insert(stream);
  state_.listening();
  rpc::hand_over(stream);
  stream->advance();
  return stream;
}

void DeviceStreams::publish(List list) {
  const std::lock_guard lock(mutex_);
  list_ = std::make_shared<List>(std::move(list));
  for (Stream* stream : streams_) stream->advance();
}

void DeviceStreams::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (Stream* stream : streams_) stream->advance();
}

void DeviceStreams::allow() {
  const std::lock_guard lock(mutex_);
  ended_ = false;
}

}  // namespace ibpod::kube
