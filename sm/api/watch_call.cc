#include "sm/api/watch_call.h"

#include "lib/fabricapi/binding_messages.h"
#include "lib/rpc/status.h"
#include "lib/rpc/tsan_handover.h"
#include "sm/api/request_bytes.h"

#include <algorithm>

namespace ibpod::sm::api {
namespace {

class Stream final : public WatchCall::Reactor {
 public:
  Stream(std::shared_ptr<CallLimiter::Slot> slot, std::shared_ptr<WatchBytes> all)
      : call_(std::make_shared<WatchCall>(*this, std::move(slot), std::move(all))) {
    rpc::hand_over(this);
  }
  const std::shared_ptr<WatchCall>& call() const { return call_; }

  void OnWriteDone(bool well) override {
    rpc::take_over(this);
    call_->written(well);
  }
  // The client is gone, or the server is shutting down.
  void OnCancel() override {
    rpc::take_over(this);
    call_->end(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    rpc::take_over(this);
    call_->over();
    delete this;
  }

 private:
  std::shared_ptr<WatchCall> call_;
};

grpc::Status too_slow(size_t bytes) {
  return {grpc::StatusCode::RESOURCE_EXHAUSTED,
          "the watcher reads too slowly: " + std::to_string(bytes) +
              " bytes of changes wait for it; watch again"};
}

}  // namespace

WatchCall::Reactor* WatchCall::refuse(const Error& error) {
  auto* stream = new Stream(nullptr, nullptr);  // deleted in OnDone()
  stream->call()->end(rpc::to_grpc(error));
  return stream;
}

WatchCall::Reactor* WatchCall::begin(std::shared_ptr<CallLimiter::Slot> slot,
                                     std::shared_ptr<WatchBytes> all,
                                     const std::function<Status(OnChange, OnBegun)>& start) {
  auto* stream = new Stream(std::move(slot), std::move(all));  // deleted in OnDone()
  // Not `stream` itself: it may be deleted before the next line.
  const std::shared_ptr<WatchCall> call = stream->call();
  const Status started = start(
      [call](const fabricapi::BindingChange& change) { return call->tell(change); },
      [call](Result<std::shared_ptr<fabricapi::Watch>> watch) { call->begun(std::move(watch)); });
  if (!started) call->begun(started.error());
  return stream;
}

bool WatchCall::tell(const fabricapi::BindingChange& change) {
  grpc::ByteBuffer message;
  put(fabricapi::to_message(change), &message);
  const size_t size = message.Length();
  const std::lock_guard lock(mutex_);
  if (reactor_ == nullptr) return false;
  if (begun_)
    bytes_ += size;
  else
    ++first_;
  waiting_.push_back({std::move(message), {all_, size}});
  if (!all_->allows(bytes_)) {
    end_locked(too_slow(bytes_));
    return false;
  }
  if (!writing_) {
    writing_ = true;
    reactor_->StartWrite(&waiting_.front().message);
  }
  return true;
}

void WatchCall::begun(Result<std::shared_ptr<fabricapi::Watch>> watch) {
  const std::lock_guard lock(mutex_);
  if (!watch) return end_locked(rpc::to_grpc(watch.error()));
  begun_ = true;
  if (!over_) watch_ = std::move(watch).value();
}

void WatchCall::written(bool well) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (!waiting_.empty()) {
    if (first_ > 0)
      --first_;
    else
      bytes_ -= std::min(bytes_, waiting_.front().reservation.bytes());
    waiting_.pop_front();
  }
  if (!well) return end_locked(grpc::Status::CANCELLED);
  if (reactor_ == nullptr || waiting_.empty()) return;
  writing_ = true;
  reactor_->StartWrite(&waiting_.front().message);
}

void WatchCall::end(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  end_locked(status);
}

// The message being written stays until gRPC has written it, even if Finish() comes first.
void WatchCall::end_locked(const grpc::Status& status) {
  if (reactor_ == nullptr) return;
  Reactor* reactor = reactor_;
  reactor_ = nullptr;
  while (waiting_.size() > (writing_ ? 1 : 0)) waiting_.pop_back();
  reactor->Finish(status);
}

std::shared_ptr<fabricapi::Watch> WatchCall::over() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  waiting_.clear();
  slot_.reset();
  return std::move(watch_);
}

}  // namespace ibpod::sm::api
